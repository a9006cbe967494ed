import type { JsonObject } from "../json.ts";
import type { Machinery } from "../machinery.ts";
import { createObject } from "../verbs/create.ts";

const serverOptions = { dryRun: false, fieldManager: "devcluster", fieldValidation: "Ignore", force: false } as const;
const group = "rbac.authorization.k8s.io";
const labels = { "kubernetes.io/bootstrapping": "rbac-defaults" };

const discoveryPaths = [
  "/api",
  "/api/*",
  "/apis",
  "/apis/*",
  "/healthz",
  "/livez",
  "/openapi",
  "/openapi/*",
  "/readyz",
];
const reviews = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"];

/** The roles without which nobody could begin, each with the group that has it. As kube-apiserver's bootstrap policy. */
const firstRoles: readonly { readonly name: string; readonly to: string; readonly rules: readonly JsonObject[] }[] = [
  {
    name: "cluster-admin",
    to: "system:masters",
    rules: [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
  },
  {
    name: "system:discovery",
    to: "system:authenticated",
    rules: [{ nonResourceURLs: [...discoveryPaths, "/version", "/version/"], verbs: ["get"] }],
  },
  {
    name: "system:basic-user",
    to: "system:authenticated",
    rules: [
      { apiGroups: ["authorization.k8s.io"], resources: reviews, verbs: ["create"] },
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ],
  },
];

/** Stores the first roles and their bindings, where they are missing. */
export function createFirstRoles(machinery: Machinery): void {
  const { store, registry } = machinery;
  const roles = registry.findKind(group, "ClusterRole");
  const bindings = registry.findKind(group, "ClusterRoleBinding");
  if (roles === undefined || bindings === undefined) return;
  for (const { name, to, rules } of firstRoles) {
    const metadata = { name, labels };
    if (store.get(roles.collection, "", name) === undefined) {
      createObject(machinery, roles, "", { metadata, rules }, serverOptions);
    }
    if (store.get(bindings.collection, "", name) !== undefined) continue;
    const roleRef = { apiGroup: group, kind: "ClusterRole", name };
    const subjects = [{ apiGroup: group, kind: "Group", name: to }];
    createObject(machinery, bindings, "", { metadata, roleRef, subjects }, serverOptions);
  }
}
