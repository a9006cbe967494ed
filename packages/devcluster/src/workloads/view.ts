import type { ClusterFault } from "../cluster-faults/cluster-fault.ts";
import type { JsonObject } from "../json/json.ts";
import type { ResourceKey } from "./watched-resources.ts";

/** An object of the caches. */
export interface Item extends JsonObject {
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string; readonly uid: string };
}

/** What one reconcile decides by: the objects of all kinds, in the order of their keys, and the time. */
export type View = Readonly<Record<ResourceKey, readonly Item[]>> & {
  readonly now: Date;
  /**
   * Whether `delayMs` have passed since a reconcile first used this key. A key that a reconcile does not use is forgotten;
   * one that is not due requeues.
   */
  due(key: string, delayMs: number): boolean;
  /** Whether the previous reconcile did not use the key: for events that are recorded once while a state lasts. */
  isNew(key: string): boolean;
  /** The present faults. */
  readonly faults: readonly ClusterFault[];
};

/** An event about an object, as `kubectl describe` shows it. */
export interface ObjectEvent {
  readonly about: Item;
  readonly kind: string;
  readonly apiVersion: string;
  /** The component that reports it, the `From` column. */
  readonly from: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Makes the events about the objects of a kind, by default of type Normal. */
const eventsAbout =
  (kind: string, apiVersion = "v1") =>
  (about: Item, from: string, reason: string, message: string, type: ObjectEvent["type"] = "Normal"): ObjectEvent => ({
    about,
    kind,
    apiVersion,
    from,
    type,
    reason,
    message,
  });

export const podEvent = eventsAbout("Pod");
export const nodeEvent = eventsAbout("Node");
export const claimEvent = eventsAbout("PersistentVolumeClaim");
export const deploymentEvent = eventsAbout("Deployment", "apps/v1");

/** An action of a reconcile: a write and the events to record after it, or events alone. */
export type Action = Write & { readonly events?: readonly ObjectEvent[] };

type Write =
  | { readonly do: "record" }
  | { readonly do: "create"; readonly kind: ResourceKey; readonly object: JsonObject }
  | { readonly do: "bind"; readonly pod: Item; readonly nodeName: string }
  | {
      readonly do: "patch";
      readonly kind: ResourceKey;
      readonly item: Item;
      readonly patch: JsonObject;
      readonly subresource?: "status";
    }
  | { readonly do: "delete"; readonly kind: ResourceKey; readonly item: Item; readonly graceSeconds?: number };

/** `namespace/name` of an object. */
export function keyOfItem({ metadata }: Item): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Whether an object is being deleted. */
export function isDeleting({ metadata }: Item): boolean {
  return metadata["deletionTimestamp"] !== undefined;
}
