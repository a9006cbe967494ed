import type { JsonObject } from "../json/json.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { createObject } from "../verbs/create.ts";
import { rbacGroup } from "../access/rbac-rules.ts";
import { serverOptions } from "./custom-resources.ts";

/** A ClusterRole that every cluster starts with, and the groups that are bound to it. */
interface BootstrapRole {
  readonly name: string;
  readonly groups: readonly string[];
  readonly rules: readonly JsonObject[];
}

const read = (...nonResourceURLs: readonly string[]): JsonObject => ({ nonResourceURLs, verbs: ["get"] });
const create = (group: string, ...resources: readonly string[]): JsonObject => ({
  apiGroups: [group],
  resources,
  verbs: ["create"],
});
const health = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/**
 * The bootstrap roles of administrators and of every caller. Source: Kubernetes documentation, "Using RBAC Authorization", default
 * roles, and the list of a kube-apiserver 1.35.
 */
const bootstrapRoles: readonly BootstrapRole[] = [
  {
    name: "cluster-admin",
    groups: ["system:masters"],
    rules: [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
  },
  {
    name: "system:discovery",
    groups: ["system:authenticated"],
    rules: [read("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...health)],
  },
  {
    name: "system:basic-user",
    groups: ["system:authenticated"],
    rules: [
      create("authorization.k8s.io", "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
      create("authentication.k8s.io", "selfsubjectreviews"),
    ],
  },
  {
    name: "system:public-info-viewer",
    groups: ["system:authenticated", "system:unauthenticated"],
    rules: [read(...health)],
  },
];

/** Creates the bootstrap roles and their bindings where they are missing. */
export function createBootstrapRoles(context: ServerContext): void {
  const { store, registry } = context;
  const roles = registry.findKind(rbacGroup, "ClusterRole");
  const bindings = registry.findKind(rbacGroup, "ClusterRoleBinding");
  if (roles === undefined || bindings === undefined) return;
  for (const { name, groups, rules } of bootstrapRoles) {
    const metadata = {
      name,
      labels: { "kubernetes.io/bootstrapping": "rbac-defaults" },
      annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
    };
    if (store.get(roles.collection, "", name) === undefined) {
      createObject(context, roles, "", { metadata, rules }, serverOptions);
    }
    if (store.get(bindings.collection, "", name) !== undefined) continue;
    const subjects = groups.map((group) => ({ apiGroup: rbacGroup, kind: "Group", name: group }));
    const roleRef = { apiGroup: rbacGroup, kind: "ClusterRole", name };
    createObject(context, bindings, "", { metadata, roleRef, subjects }, serverOptions);
  }
}
