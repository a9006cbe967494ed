import type { JsonObject } from "../json.ts";
import type { ResourceKey } from "./resources.ts";

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
};

/** A write that a pass wants. */
export type Action =
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
