import type { Trouble } from "../cluster-faults/cluster-fault.ts";
import type { JsonObject } from "../json/json.ts";
import type { ResourceKey } from "./watched-resources.ts";

/** An object as the caches have it. */
export interface Item extends JsonObject {
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string; readonly uid: string };
}

/** What one pass decides by: the objects of all kinds as they are now, in the order of their keys, and the time. */
export type View = Readonly<Record<ResourceKey, readonly Item[]>> & {
  readonly now: Date;
  /**
   * Whether `delayMs` have gone by since a pass asked with this key for the first time. A key that a pass does not ask for
   * is forgotten; one that is not due wakes the next pass.
   */
  due(key: string, delayMs: number): boolean;
  /** Whether no pass before this one asked for the key: for what is said once, as long as it goes on. */
  isNew(key: string): boolean;
  /** What goes wrong at the moment. */
  readonly troubles: readonly Trouble[];
};

/** Something that people who run `kubectl describe` are told about an object. */
export interface Saying {
  readonly about: Item;
  readonly kind: string;
  readonly apiVersion: string;
  /** Who says it, the `From` column. */
  readonly from: string;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** A saying about a pod, of the kind Normal unless it is a warning. */
export function ofPod(
  about: Item,
  from: string,
  reason: string,
  message: string,
  type: Saying["type"] = "Normal",
): Saying {
  return { about, kind: "Pod", apiVersion: "v1", from, type, reason, message };
}

/** What a pass wants: a write, and what is said once it is done; or only something to say. */
export type Action = Write & { readonly says?: readonly Saying[] };

type Write =
  | { readonly do: "say" }
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

/** Whether deletion of an object was asked for. */
export function isDeleting({ metadata }: Item): boolean {
  return metadata["deletionTimestamp"] !== undefined;
}
