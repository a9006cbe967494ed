import type { ResourceType } from "@millwright/base";
import type { ApiObject } from "./kube-object.ts";

export type { ResourceType };

/** The `apiVersion` that objects of a type carry: `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/**
 * A type as people write it in messages: `machines.machine.sapcloud.io`, or `nodes` for the core group.
 * The same form that kubectl accepts.
 */
export function describeType(type: ResourceType): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

/**
 * Gives an object the `apiVersion` and `kind` of its type when it lacks them: a real API server leaves both out of the
 * items of a list.
 */
export function withTypeMeta<T extends ApiObject>(type: ResourceType, object: T): T {
  if (object.apiVersion !== undefined && object.kind !== undefined) return object;
  return { ...object, apiVersion: apiVersionOf(type), kind: type.kind };
}
