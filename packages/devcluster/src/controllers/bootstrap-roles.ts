import type { JsonObject } from "../json/json.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { createObject } from "../verbs/create.ts";
import { bootstrapRoles } from "./bootstrap-role-rules.ts";
import { rbacGroup } from "../access/rbac-rules.ts";

const serverOptions = {
  dryRun: false,
  fieldManager: "kube-apiserver",
  fieldValidation: "Ignore",
  force: false,
} as const;
const labels = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "true" };

/** Creates the bootstrap roles and their bindings where they are missing. */
export function createBootstrapRoles(context: ServerContext): void {
  const { store, registry } = context;
  const roles = registry.findKind(rbacGroup, "ClusterRole");
  const bindings = registry.findKind(rbacGroup, "ClusterRoleBinding");
  if (roles === undefined || bindings === undefined) return;
  for (const role of bootstrapRoles) {
    const { name, rules = [], aggregates } = role;
    const metadata = { name, labels: { ...labels, ...role.labels }, annotations };
    if (store.get(roles.collection, "", name) === undefined) {
      const content: JsonObject =
        aggregates === undefined
          ? { rules }
          : { rules, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: "true" } }] } };
      createObject(context, roles, "", { metadata, ...content }, serverOptions);
    }
    const subjects = [
      ...(role.toGroups ?? []).map((group) => ({ apiGroup: rbacGroup, kind: "Group", name: group })),
      ...(role.toUsers ?? []).map((user) => ({ apiGroup: rbacGroup, kind: "User", name: user })),
    ];
    if (subjects.length === 0 || store.get(bindings.collection, "", name) !== undefined) continue;
    const roleRef = { apiGroup: rbacGroup, kind: "ClusterRole", name };
    const binding = { metadata: { name, labels, annotations }, roleRef, subjects };
    createObject(context, bindings, "", binding, serverOptions);
  }
}
