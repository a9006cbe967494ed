import { customResourceDefinitionPipeline } from "../crd/crd-pipeline.ts";
import { disruptionBudgetPipeline } from "./pipelines/budget-pipeline.ts";
import { leasePipeline } from "./pipelines/built-in-pipeline.ts";
import { customResourceDefinitionColumns, disruptionBudgetColumns, leaseColumns } from "./columns/columns.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { kind } from "./kind-row.ts";

/** Leases, PodDisruptionBudgets and CustomResourceDefinitions. */
export const clusterKinds: readonly ResourceDefinition[] = [
  kind({
    group: "coordination.k8s.io",
    kind: "Lease",
    plural: "leases",
    namespaced: true,
    columns: leaseColumns,
    unconditionalUpdate: false,
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
  }),
];
