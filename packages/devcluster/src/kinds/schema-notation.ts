import type { Schema } from "./schema.ts";

/*
 * A short notation for the schemas of built-in kinds. They say what clients depend on: types for `kubectl explain`,
 * list and map kinds for server-side apply, merge keys for strategic merge patch. Fields that are not named are kept.
 */

type Properties = Readonly<Record<string, Schema>>;

export const text: Schema = { type: "string" };
export const int32: Schema = { type: "integer", format: "int32" };
export const int64: Schema = { type: "integer", format: "int64" };
export const flag: Schema = { type: "boolean" };
export const time: Schema = { type: "string", format: "date-time" };
export const intOrString: Schema = { "x-kubernetes-int-or-string": true };
export const quantity: Schema = { "x-kubernetes-int-or-string": true, format: "quantity" };
export const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
export const textMap: Schema = { type: "object", additionalProperties: text };
export const quantities: Schema = { type: "object", additionalProperties: quantity };

/** A struct. */
export function struct(properties: Properties): Schema {
  return { type: "object", properties };
}

/** A struct that server-side apply takes as one value. */
export function atomicStruct(properties: Properties): Schema {
  return { ...struct(properties), "x-kubernetes-map-type": "atomic" };
}

/** A list that is replaced as a whole. */
export function list(items: Schema): Schema {
  return { type: "array", items, "x-kubernetes-list-type": "atomic" };
}

/** A list without duplicates, each value owned by itself. */
export function set(items: Schema): Schema {
  return { type: "array", items, "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" };
}

/** A list of structs identified by `keys`; `mergeKey` is the single key that strategic merge patch knows. */
export function mapList(keys: readonly string[], items: Schema, mergeKey = keys[0] ?? "", strategy = "merge"): Schema {
  return {
    type: "array",
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
    "x-kubernetes-patch-merge-key": mergeKey,
    "x-kubernetes-patch-strategy": strategy,
  };
}

/** A reference to an object, as `v1.ObjectReference`. */
export const objectReference: Schema = atomicStruct({
  apiVersion: text,
  fieldPath: text,
  kind: text,
  name: text,
  namespace: text,
  resourceVersion: text,
  uid: text,
});

/** A text that Go leaves out when it is empty. */
export const optionalText: Schema = { ...text, "x-go-omitempty": true };

/** The condition types of core kinds, older than `metav1.Condition`. */
export const coreConditions: Schema = mapList(
  ["type"],
  struct({
    type: text,
    status: text,
    reason: optionalText,
    message: optionalText,
    lastTransitionTime: time,
    lastHeartbeatTime: time,
    lastProbeTime: time,
    observedGeneration: int64,
  }),
);

/** `metav1.Condition`. */
export const conditions: Schema = mapList(
  ["type"],
  struct({
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: time,
    lastHeartbeatTime: time,
    lastProbeTime: time,
    observedGeneration: int64,
  }),
);

/** `metav1.LabelSelector`. */
export const labelSelector: Schema = atomicStruct({
  matchLabels: textMap,
  matchExpressions: list(struct({ key: text, operator: text, values: list(text) })),
});

/** `metav1.ObjectMeta`, the same for every kind. */
export const objectMeta: Schema = struct({
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: textMap,
  annotations: textMap,
  finalizers: set(text),
  ownerReferences: mapList(
    ["uid"],
    atomicStruct({ apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag }),
  ),
  managedFields: list(anything),
});

/** The schema of a whole object out of the schemas of its fields. */
export function kindSchema(fields: Properties): Schema {
  return struct({ apiVersion: text, kind: text, metadata: objectMeta, ...fields });
}
