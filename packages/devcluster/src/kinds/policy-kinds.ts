import { kind } from "./kind-row.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import { bindingColumns } from "./columns/workload-columns.ts";
import { bindingPipeline } from "./pipelines/workload-pipeline.ts";

const rbac = { group: "rbac.authorization.k8s.io", nameRule: "path" } as const;
const admission = { group: "admissionregistration.k8s.io", namespaced: false, categories: ["api-extensions"] } as const;

/** RBAC, and policies of admission, of the network and of scheduling, which are stored only. */
export const policyKinds: readonly ResourceDefinition[] = [
  kind({
    ...rbac,
    kind: "Role",
    plural: "roles",
    namespaced: true,
  }),
  kind({
    ...rbac,
    kind: "ClusterRole",
    plural: "clusterroles",
    namespaced: false,
  }),
  kind({
    ...rbac,
    kind: "RoleBinding",
    plural: "rolebindings",
    namespaced: true,
    columns: bindingColumns,
    pipeline: bindingPipeline,
  }),
  kind({
    ...rbac,
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    namespaced: false,
    columns: bindingColumns,
    pipeline: bindingPipeline,
  }),
  kind({
    ...admission,
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    subresources: { status: true },
    countsGeneration: true,
    keepsStatusOnCreate: false,
  }),
  kind({
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
    countsGeneration: true,
  }),
  kind({
    group: "networking.k8s.io",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    shortNames: ["netpol"],
    namespaced: true,
    countsGeneration: true,
  }),
  kind({
    group: "scheduling.k8s.io",
    kind: "PriorityClass",
    plural: "priorityclasses",
    shortNames: ["pc"],
    namespaced: false,
  }),
];
