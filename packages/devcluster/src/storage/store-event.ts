import type { StoredObject } from "../objects/stored-object.ts";

/** A change of one object, in the order of the single resourceVersion sequence. */
export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly collection: string;
  readonly key: string;
  /** The object after the change; for DELETED its last state, with the resourceVersion of the deletion. */
  readonly object: StoredObject;
  /** The object before the change; undefined for ADDED. */
  readonly previous: StoredObject | undefined;
  readonly resourceVersion: number;
}
