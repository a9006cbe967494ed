import { objectAt, stringAt, field, type JsonObject } from "../json/json.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import { eventPipeline } from "./pipelines/built-in-pipeline.ts";
import { eventColumns } from "./columns/event-columns.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";

/**
 * Events are stored in their core/v1 form; `events.k8s.io/v1` is a view of the same objects with other field names.
 * Source: Kubernetes API reference, Event v1 events.k8s.io, "deprecated" fields.
 */
const coreToEvents: readonly (readonly [string, string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

function renamed(object: JsonObject, names: ReadonlyMap<string, string>, apiVersion: string): JsonObject {
  const result: Record<string, JsonObject[string]> = {};
  for (const [key, value] of Object.entries(object)) result[names.get(key) ?? key] = value;
  return { ...result, apiVersion };
}

const toEvents = new Map(coreToEvents);
const toCore = new Map(coreToEvents.map(([core, view]) => [view, core]));

/** A stored event as `events.k8s.io/v1` shows it. */
function showAsEventsV1(event: JsonObject): JsonObject {
  return renamed(event, toEvents, "events.k8s.io/v1");
}

/** An `events.k8s.io/v1` event as it is stored. */
function storeFromEventsV1(event: JsonObject): JsonObject {
  const core = renamed(event, toCore, "v1");
  if (field(core, "involvedObject") !== undefined) return core;
  return { ...core, involvedObject: objectAt(event, "regarding") };
}

const involvedKeys = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

function eventSelectors(prefix: "involvedObject" | "regarding"): Pick<ResourceDefinition, "selectable" | "fieldsOf"> {
  const common = ["reason", "type", "reportingComponent", "reportingController", "source"];
  return {
    selectable: [...involvedKeys.map((key) => `${prefix}.${key}`), ...common],
    fieldsOf(event: StoredObject) {
      const involved = objectAt(event, "involvedObject");
      const component = stringAt(event, "source", "component") || (stringAt(event, "reportingComponent") ?? "");
      return {
        ...Object.fromEntries(involvedKeys.map((key) => [`${prefix}.${key}`, stringAt(involved, key) ?? ""])),
        reason: stringAt(event, "reason") ?? "",
        type: stringAt(event, "type") ?? "",
        reportingComponent: stringAt(event, "reportingComponent") ?? "",
        reportingController: stringAt(event, "reportingComponent") ?? "",
        source: component,
      };
    },
  };
}

/** Events, stored once and served in two groups. */
export const eventKinds: readonly ResourceDefinition[] = [
  kind({
    group: "",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    namespaced: true,
    columns: eventColumns,
    ...eventSelectors("involvedObject"),
    pipeline: eventPipeline,
  }),
  kind({
    group: "events.k8s.io",
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    namespaced: true,
    collection: "events.",
    columns: eventColumns,
    ...eventSelectors("regarding"),
    pipeline: eventPipeline,
    view: { show: showAsEventsV1, store: storeFromEventsV1 },
  }),
];
