import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { resourceList, text } from "../schema/fields.ts";
import { notEmpty } from "../schema/rules.ts";
import { objectMetaSchema } from "./object-meta.ts";
import { apiVersionField, kindField, machineGroup } from "./resource-type.ts";

const secretReferenceSchema = (description: string) =>
  z
    .object({
      name: text("Name of the Secret.").exactOptional(),
      namespace: text("Namespace of the Secret.").exactOptional(),
    })
    .meta({ description, "x-kubernetes-map-type": "atomic" });

const nodeTemplateSchema = z
  .object({
    architecture: text("Processor architecture of the nodes, such as amd64 or arm64.").exactOptional(),
    capacity: resourceList("Capacity of a node; cpu, gpu and memory are mandatory."),
    instanceType: text("Instance type of the VMs at the provider."),
    region: text("Region of the VMs."),
    virtualCapacity: resourceList("Extended resources to add to the capacity of the nodes.").exactOptional(),
    zone: text("Zone of the VMs."),
  })
  .meta({
    description: "Capacity and properties of a node of this class; read by the cluster autoscaler to scale from zero.",
    "x-kubernetes-preserve-unknown-fields": true,
  });

/** Schema of a MachineClass: source of its type, its CustomResourceDefinition and its reader. It has no `spec`. */
export const machineClassSchema = z
  .object({
    apiVersion: apiVersionField,
    credentialsSecretRef: secretReferenceSchema(
      "Secret with the credentials of the provider; its keys override those of secretRef.",
    ).exactOptional(),
    kind: kindField,
    metadata: objectMetaSchema,
    nodeTemplate: nodeTemplateSchema.exactOptional(),
    provider: text("Name of the driver, compared ignoring case.")
      .meta({ "x-kubernetes-validations": [notEmpty] })
      .exactOptional(),
    providerSpec: z.record(z.string(), z.unknown()).meta({
      description: "Specification of the VMs; its fields are defined by the driver.",
      "x-kubernetes-preserve-unknown-fields": true,
    }),
    secretRef: secretReferenceSchema("Secret with the user data and, optionally, the credentials.").exactOptional(),
  })
  .meta({ description: "A MachineClass defines the driver and the specification of VMs." });

/** The resource `machineclasses.machine.sapcloud.io`. */
export const machineClassResource = {
  group: machineGroup,
  version: "v1alpha1",
  kind: "MachineClass",
  plural: "machineclasses",
  singular: "machineclass",
  shortNames: ["mcc"],
  namespaced: true,
} as const;

/** Which driver makes a VM, and how. */
export type MachineClass = DeepReadonly<z.infer<typeof machineClassSchema>>;

/** What a node of a class has: `nodeTemplate` of a MachineClass. Not a machine's {@link NodeTemplateSpec}. */
export type NodeTemplate = DeepReadonly<z.infer<typeof nodeTemplateSchema>>;

/** A reference to a Secret. */
export type SecretReference = DeepReadonly<z.infer<ReturnType<typeof secretReferenceSchema>>>;
