import { field, type JsonObject, objectAt } from "../json/json.ts";

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
export function showAsEventsV1(event: JsonObject): JsonObject {
  return renamed(event, toEvents, "events.k8s.io/v1");
}

/** An `events.k8s.io/v1` event as it is stored. */
export function storeFromEventsV1(event: JsonObject): JsonObject {
  const core = renamed(event, toCore, "v1");
  if (field(core, "involvedObject") !== undefined) return core;
  return { ...core, involvedObject: objectAt(event, "regarding") };
}
