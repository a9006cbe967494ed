import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { atomicList, flag, setOfText, text, timestamp } from "../schema/fields.ts";
import { opaqueInCrd } from "../schema/structural-schema.ts";
import { templateMetaSchema } from "./object-meta.ts";

const taintSchema = z.object({
  key: text("Key of the taint."),
  value: text("Value of the taint.").exactOptional(),
  effect: text("What happens to pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute."),
  timeAdded: timestamp("When a NoExecute taint was added.").exactOptional(),
});

const configMapSourceSchema = z
  .object({
    kubeletConfigKey: text("Key of the ConfigMap that holds the kubelet configuration."),
    name: text("Name of the ConfigMap."),
    namespace: text("Namespace of the ConfigMap."),
    resourceVersion: text("Version of the ConfigMap; not set in a template.").exactOptional(),
    uid: text("UID of the ConfigMap; not set in a template.").exactOptional(),
  })
  .meta({ description: "A ConfigMap with the kubelet configuration." });

const nodeSpecSchema = z
  .object({
    configSource: z
      .object({ configMap: configMapSourceSchema.exactOptional() })
      .meta({ description: "Dynamic kubelet configuration; Kubernetes removed the feature, kept for stored objects." })
      .exactOptional(),
    externalID: text("No longer used; kept for stored objects.").exactOptional(),
    podCIDR: text("Address range of the node's pods; not applied from a template.").exactOptional(),
    podCIDRs: setOfText("Address ranges of the node's pods; not applied from a template.").exactOptional(),
    providerID: text("Id of the VM; not applied from a template.").exactOptional(),
    taints: atomicList(taintSchema, "Taints that the Node gets; other taints are kept.").exactOptional(),
    unschedulable: flag("Whether the node takes no new pods; not applied from a template.").exactOptional(),
  })
  .meta({ description: "Specification of the Node; only its taints are applied." });

/** Schema of `spec.nodeTemplate` of a machine. */
export const nodeTemplateSpecSchema = z
  .object({
    metadata: templateMetaSchema
      .meta({
        description: "Labels and annotations that the Node gets; others are kept.",
        "x-kubernetes-preserve-unknown-fields": true,
        [opaqueInCrd]: true,
      })
      .exactOptional(),
    spec: nodeSpecSchema.exactOptional(),
  })
  .meta({ description: "Labels, annotations and taints to keep on the Node of the machine." });

/** A taint of a Node. */
export type Taint = DeepReadonly<z.infer<typeof taintSchema>>;

/** What a machine's Node looks like: `spec.nodeTemplate` of a machine. Not the class's {@link NodeTemplate}. */
export type NodeTemplateSpec = DeepReadonly<z.infer<typeof nodeTemplateSpecSchema>>;
