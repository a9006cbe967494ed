import { createHash } from "node:crypto";
import { arrayAt, type JsonObject, objectAt } from "../json/json.ts";
import type { Item } from "./view.ts";

/** The owner reference of what a controller creates. */
export function ownerReference(apiVersion: string, kind: string, { metadata }: Item): JsonObject {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * A pod of its controller's template, with the labels, annotations and finalizers of the template, as in
 * kube-controller-manager.
 */
export function podFromTemplate(
  kind: string,
  owner: Item,
  identity: { readonly name?: string; readonly labels?: JsonObject },
  spec: JsonObject = {},
): JsonObject {
  const template = objectAt(owner, "spec", "template");
  const { name, labels = {} } = identity;
  const finalizers = arrayAt(template, "metadata", "finalizers");
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...(name === undefined ? { generateName: `${owner.metadata.name}-` } : { name }),
      namespace: owner.metadata.namespace ?? "",
      labels: { ...objectAt(template, "metadata", "labels"), ...labels },
      annotations: objectAt(template, "metadata", "annotations"),
      ...(finalizers.length === 0 ? {} : { finalizers }),
      ownerReferences: [ownerReference("apps/v1", kind, owner)],
    },
    spec: { ...objectAt(template, "spec"), ...spec },
  };
}

/** A short name for the content of a template, from an alphabet that labels accept. */
export function templateHash(owner: Item): string {
  return createHash("sha256")
    .update(JSON.stringify(objectAt(owner, "spec", "template")))
    .digest("hex")
    .slice(0, 10);
}
