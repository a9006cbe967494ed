import { builtInPipeline } from "./built-in-pipeline.ts";
import { kind } from "./kind-row.ts";
import type { ResourceDefinition } from "./resource-definition.ts";
import { anything, atomicStruct, conditions, int64, kindSchema, list, struct, text } from "./schema-notation.ts";
import { bindingColumns } from "./workload-columns.ts";
import { bindingPipeline } from "./workload-pipeline.ts";

const rules = list(
  struct({
    apiGroups: list(text),
    nonResourceURLs: list(text),
    resourceNames: list(text),
    resources: list(text),
    verbs: list(text),
  }),
);
const roleRef = atomicStruct({ apiGroup: text, kind: text, name: text });
const subjects = list(atomicStruct({ apiGroup: text, kind: text, name: text, namespace: text }));

const rbac = { group: "rbac.authorization.k8s.io", nameRule: "path" } as const;
const admission = { group: "admissionregistration.k8s.io", namespaced: false, categories: ["api-extensions"] } as const;

/** Who may do what, and which objects are admitted. Admission policies are stored only. */
export const policyKinds: readonly ResourceDefinition[] = [
  kind({
    ...rbac,
    kind: "Role",
    plural: "roles",
    namespaced: true,
    schema: kindSchema({ rules }),
    pipeline: builtInPipeline(),
  }),
  kind({
    ...rbac,
    kind: "ClusterRole",
    plural: "clusterroles",
    namespaced: false,
    schema: kindSchema({ rules, aggregationRule: anything }),
    pipeline: builtInPipeline(),
  }),
  kind({
    ...rbac,
    kind: "RoleBinding",
    plural: "rolebindings",
    namespaced: true,
    columns: bindingColumns,
    schema: kindSchema({ roleRef, subjects }),
    pipeline: bindingPipeline,
  }),
  kind({
    ...rbac,
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    namespaced: false,
    columns: bindingColumns,
    schema: kindSchema({ roleRef, subjects }),
    pipeline: bindingPipeline,
  }),
  kind({
    ...admission,
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    subresources: { status: true },
    countsGeneration: true,
    keepsStatusOnCreate: false,
    schema: kindSchema({
      spec: struct({
        auditAnnotations: list(anything),
        failurePolicy: text,
        matchConditions: list(struct({ name: text, expression: text })),
        matchConstraints: anything,
        paramKind: anything,
        validations: list(struct({ expression: text, message: text, messageExpression: text, reason: text })),
        variables: list(struct({ name: text, expression: text })),
      }),
      status: struct({ conditions, observedGeneration: int64, typeChecking: anything }),
    }),
  }),
  kind({
    ...admission,
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
    countsGeneration: true,
    schema: kindSchema({
      spec: struct({ matchResources: anything, paramRef: anything, policyName: text, validationActions: list(text) }),
    }),
  }),
];
