import type { PreparedObject, StoredObject } from "../api-object.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";

/** Who writes, how, and when: one entry of `metadata.managedFields` without its fields. */
export interface TrackedWrite {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource: string;
  readonly apiVersion: string;
  readonly time: string;
}

export function trackManagedFields(
  _definition: ResourceDefinition,
  _live: StoredObject | undefined,
  object: PreparedObject,
  _write: TrackedWrite,
): PreparedObject {
  return object;
}
