import { objectAt, stringAt } from "../json/json.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import { eventPipeline } from "./pipelines/built-in-pipeline.ts";
import { eventColumns } from "./columns/columns.ts";
import { showAsEventsV1, storeFromEventsV1 } from "./events-view.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";

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
