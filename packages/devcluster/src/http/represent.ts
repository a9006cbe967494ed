import { type JsonObject, objectAt } from "../json/json.ts";
import { apiVersionOf, type ResourceDefinition } from "../resources/resource-definition.ts";
import { type ServerContext, shown } from "../resources/server-context.ts";
import { type IncludedObject, partialObject, tableOf } from "../resources/table.ts";
import type { Page } from "../verbs/list.ts";
import { sendJson } from "./response.ts";
import type { ApiRequest } from "./api-request.ts";
import { StatusError } from "../errors/status-error.ts";
import { negotiate } from "../request/negotiation.ts";

/** Sends one object in the representation that its client accepts. */
export function sendOne(
  { clock }: ServerContext,
  definition: ResourceDefinition,
  { raw, response }: ApiRequest,
  code: number,
  object: JsonObject,
  include: IncludedObject,
  warnings?: readonly string[],
): void {
  const body = ((): JsonObject => {
    switch (negotiate(raw.headers.accept)) {
      case "table": {
        const { resourceVersion } = objectAt(object, "metadata");
        const metadata = { resourceVersion: resourceVersion ?? "" };
        return tableOf(definition, [object], metadata, clock.now(), { include, withColumns: true });
      }
      case "partial":
        return partialObject(object);
      case "partial-list":
        throw new StatusError(
          406,
          "NotAcceptable",
          `you requested PartialObjectMetadataList, but the requested object is not a list (${goTypeOf(definition)})`,
        );
      case "object":
        return object;
    }
  })();
  sendJson(response, code, body, { warnings });
}

/** Sends a page of objects in the representation that its client accepts. */
export function sendList(
  { clock }: ServerContext,
  definition: ResourceDefinition,
  { raw, response }: ApiRequest,
  page: Page,
  include: IncludedObject,
): void {
  const metadata = {
    resourceVersion: String(page.resourceVersion),
    ...(page.continueToken === undefined ? {} : { continue: page.continueToken }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  const body = ((): JsonObject => {
    switch (negotiate(raw.headers.accept)) {
      case "table":
        return tableOf(definition, page.items, metadata, clock.now(), { include, withColumns: true });
      case "partial":
      case "partial-list":
        return {
          kind: "PartialObjectMetadataList",
          apiVersion: "meta.k8s.io/v1",
          metadata,
          items: page.items.map(partialObject),
        };
      case "object":
        return {
          kind: definition.listKind,
          apiVersion: apiVersionOf(definition),
          // Lists of custom resources have an empty `continue` on the last page, typed ones none.
          metadata: definition.origin === "custom" ? { continue: "", ...metadata } : metadata,
          items: page.items.map((item) => listed(definition, shown(definition, item))),
        };
    }
  })();
  sendJson(response, 200, body);
}

/** Items of built-in lists have no kind and apiVersion, as Go's typed lists; those of custom resources have them. */
function listed({ origin }: ResourceDefinition, item: JsonObject): JsonObject {
  if (origin === "custom") return item;
  const { apiVersion: _version, kind: _kind, ...rest } = item;
  return rest;
}

/** The Go type of an object. */
function goTypeOf({ origin, group, kind }: ResourceDefinition): string {
  if (origin === "custom") return "*unstructured.Unstructured";
  return `*${group === "" ? "core" : (group.split(".")[0] ?? group)}.${kind}`;
}
