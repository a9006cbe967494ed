import { type JsonObject, jsonText } from "../json/json.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { Representation } from "../request/negotiation.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { type ServerContext, shown } from "../resources/server-context.ts";
import { type IncludedObject, partialObject, tableOf } from "../resources/table.ts";
import { textIn, textOf } from "../storage/object-text.ts";
import type { StoreEvent } from "../storage/store-event.ts";
import type { ObjectMatcher } from "./list.ts";

/**
 * The line of a change, for a selector: an object that begins to match is ADDED, one that no longer matches is DELETED.
 */
export function lineFor(event: StoreEvent, selects: ObjectMatcher, encode: WatchEncoder): string | undefined {
  const { object, previous } = event;
  const matchesNow = event.type !== "DELETED" && selects(object);
  const matchedBefore = previous !== undefined && selects(previous);
  if (matchesNow) return encode.event(matchedBefore ? "MODIFIED" : "ADDED", object);
  if (!matchedBefore) return undefined;
  if (event.type === "DELETED") return encode.event("DELETED", object);
  // The client knows the previous state; it gets that with the version at which it no longer matches.
  const { resourceVersion } = object.metadata;
  return encode.event("DELETED", { ...previous, metadata: { ...previous.metadata, resourceVersion } });
}

/** Encodes events in the representation that a client wants. */
export interface WatchEncoder {
  event(type: "ADDED" | "MODIFIED" | "DELETED", object: StoredObject): string;
  bookmark(resourceVersion: number, annotations: JsonObject | undefined): JsonObject;
}

/** Creates the encoder of one watch. */
export function createWatchEncoder(
  { clock }: ServerContext,
  definition: ResourceDefinition,
  representation: Representation,
  include: IncludedObject,
): WatchEncoder {
  const apiVersion = apiVersionOf(definition);
  let isFirst = true;

  const plain = (object: StoredObject): string =>
    definition.view === undefined && object.apiVersion === apiVersion
      ? textOf(object)
      : textIn(apiVersion, object, () => shown(definition, object));
  const table = (object: StoredObject): string => {
    const { resourceVersion } = object.metadata;
    const body = tableOf(definition, [object], { resourceVersion }, clock.now(), { include, withColumns: isFirst });
    isFirst = false;
    return jsonText(body);
  };

  return {
    event(type, object) {
      const text =
        representation === "table"
          ? table(object)
          : representation === "object"
            ? plain(object)
            : jsonText(partialObject(object));
      return `{"type":"${type}","object":${text}}\n`;
    },
    bookmark(resourceVersion, annotations) {
      const metadata = {
        resourceVersion: String(resourceVersion),
        ...(annotations === undefined ? {} : { annotations }),
      };
      if (representation === "partial" || representation === "partial-list") return partialObject({ metadata });
      const object = { kind: definition.kind, apiVersion, metadata };
      if (representation !== "table") return object;
      const rows = [{ cells: definition.columns.map(() => ""), object: partialObject({ metadata }) }];
      return {
        kind: "Table",
        apiVersion: "meta.k8s.io/v1",
        metadata: { resourceVersion: String(resourceVersion) },
        columnDefinitions: null,
        rows,
      };
    },
  };
}
