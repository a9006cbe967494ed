import { customResourceDefinitionPipeline } from "../crd/crd-pipeline.ts";
import { disruptionBudgetPipeline, leasePipeline } from "./built-in-pipeline.ts";
import { customResourceDefinitionColumns, disruptionBudgetColumns, leaseColumns } from "./columns.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import {
  anything,
  conditions,
  flag,
  int32,
  int64,
  intOrString,
  kindSchema,
  labelSelector,
  list,
  struct,
  text,
  time,
} from "./schema-notation.ts";
import { kind } from "./kind-row.ts";

/** Leases, disruption budgets and the definitions of custom resources. */
export const clusterKinds: readonly ResourceDefinition[] = [
  kind({
    group: "coordination.k8s.io",
    kind: "Lease",
    plural: "leases",
    namespaced: true,
    columns: leaseColumns,
    unconditionalUpdate: false,
    schema: kindSchema({
      spec: struct({
        acquireTime: time,
        holderIdentity: text,
        leaseDurationSeconds: int32,
        leaseTransitions: int32,
        preferredHolder: text,
        renewTime: time,
        strategy: text,
      }),
    }),
    pipeline: leasePipeline,
  }),
  kind({
    group: "policy",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    namespaced: true,
    subresources: { status: true },
    columns: disruptionBudgetColumns,
    unconditionalUpdate: false,
    countsGeneration: true,
    keepsStatusOnCreate: false,
    schema: kindSchema({
      spec: struct({
        maxUnavailable: intOrString,
        minAvailable: intOrString,
        selector: labelSelector,
        unhealthyPodEvictionPolicy: text,
      }),
      status: struct({
        conditions,
        currentHealthy: int32,
        desiredHealthy: int32,
        disruptedPods: { type: "object", additionalProperties: time },
        disruptionsAllowed: int32,
        expectedPods: int32,
        observedGeneration: int64,
      }),
    }),
    pipeline: disruptionBudgetPipeline,
  }),
  kind({
    group: "apiextensions.k8s.io",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    namespaced: false,
    subresources: { status: true },
    pipeline: customResourceDefinitionPipeline,
    columns: customResourceDefinitionColumns,
    countsGeneration: true,
    keepsStatusOnCreate: false,
    schema: kindSchema({
      spec: struct({
        conversion: anything,
        group: text,
        names: struct({
          categories: list(text),
          kind: text,
          listKind: text,
          plural: text,
          shortNames: list(text),
          singular: text,
        }),
        preserveUnknownFields: flag,
        scope: text,
        versions: list(
          struct({
            additionalPrinterColumns: list(anything),
            deprecated: flag,
            deprecationWarning: text,
            name: text,
            schema: struct({ openAPIV3Schema: anything }),
            selectableFields: list(struct({ jsonPath: text })),
            served: flag,
            storage: flag,
            subresources: struct({ scale: anything, status: anything }),
          }),
        ),
      }),
      status: struct({ acceptedNames: anything, conditions, storedVersions: list(text) }),
    }),
  }),
];
