import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { flag, int64, text, textMap, timestamp } from "../schema/fields.ts";
import { opaqueInCrd } from "../schema/structural-schema.ts";

const ownerReferenceSchema = z.object({
  apiVersion: text("Group and version of the owner."),
  kind: text("Kind of the owner."),
  name: text("Name of the owner."),
  uid: text("UID of the owner; a new object of the same name has another UID."),
  controller: flag("Whether the owner manages the object; at most one owner does.").exactOptional(),
  blockOwnerDeletion: flag("Whether foreground deletion of the owner waits for the object.").exactOptional(),
});

const labelsAndAnnotations = {
  labels: textMap("Labels: identify and select.").exactOptional(),
  annotations: textMap("Annotations: everything else that tools attach.").exactOptional(),
};

/**
 * Schema of `metadata` as far as Millwright reads it. A CustomResourceDefinition does not spell it out, and its unknown
 * fields stay as they are.
 */
export const objectMetaSchema = z
  .object({
    name: text("Name, unique in the namespace."),
    namespace: text("Namespace of the object.").exactOptional(),
    generateName: text("Prefix of a name that the API server completes.").exactOptional(),
    uid: text("Identity of the object in time and space, set by the API server.").exactOptional(),
    resourceVersion: text("Opaque version of the stored object.").exactOptional(),
    generation: int64("Counts the changes of the spec.").exactOptional(),
    creationTimestamp: timestamp("When the object was created.").exactOptional(),
    deletionTimestamp: timestamp("When deletion was requested; unset otherwise.").exactOptional(),
    deletionGracePeriodSeconds: int64("Seconds between request and deletion.").exactOptional(),
    ...labelsAndAnnotations,
    finalizers: z.array(z.string()).exactOptional(),
    ownerReferences: z.array(ownerReferenceSchema).exactOptional(),
  })
  .meta({ description: "Name, identity and labels of the object." });

/** Schema of the metadata of a template: what its objects start with. Unknown fields are kept. */
export const templateMetaSchema = z
  .object({
    name: text("Ignored: each object of the template gets its own name.").exactOptional(),
    ...labelsAndAnnotations,
    finalizers: z.array(z.string()).exactOptional(),
  })
  .meta({
    description: "Labels, annotations and finalizers of the objects that are created from the template.",
    "x-kubernetes-preserve-unknown-fields": true,
    [opaqueInCrd]: true,
  });

/** A reference from an object to one of its owners. */
export type OwnerReference = DeepReadonly<z.infer<typeof ownerReferenceSchema>>;

/** Metadata of an object, complete in what Millwright reads. */
export type ObjectMeta = DeepReadonly<z.infer<typeof objectMetaSchema>>;

/** Metadata of a template. */
export type TemplateMeta = DeepReadonly<z.infer<typeof templateMetaSchema>>;

/** The owner that manages the object, if any. */
export function controllerOf(object: {
  readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] };
}): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}
