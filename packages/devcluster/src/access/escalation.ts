import { arrayAt, at, jsonEqual, type JsonObject, objectAt, stringAt } from "../json/json.ts";
import type { ResourceDefinition } from "../resources/resource-definition.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { forbidden, notFound } from "../errors/status-error.ts";
import type { Authorizer } from "./authorize.ts";
import { findRole, type PolicyRule, rbacGroup, readRules } from "./rbac-rules.ts";
import { describeRules, goList, missingRules } from "./rule-coverage.ts";
import type { User } from "./user.ts";

/** A write of a role or a binding. */
export interface Grant {
  readonly user: User;
  readonly authorizer: Authorizer;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** The name in the request's path; empty for a create. */
  readonly name: string;
}

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];

/**
 * Throws 403 when a role or binding would grant permissions that its author does not have, unless the author may `escalate` the role
 * or `bind` the referenced role. Other kinds are allowed. Source: Kubernetes documentation, "Using RBAC Authorization",
 * privilege escalation prevention.
 */
export function rejectEscalation(
  context: ServerContext,
  definition: ResourceDefinition,
  grant: Grant,
  next: JsonObject,
  live: JsonObject | undefined,
): void {
  if (definition.group !== rbacGroup || grant.user.groups.includes("system:masters")) return;
  if (live !== undefined && isGarbageCollection(next, live)) return;
  const name = stringAt(next, "metadata", "name") ?? "";
  if (definition.kind.endsWith("Binding")) {
    rejectBinding(context, definition, grant, name, next);
    return;
  }
  if (may(grant, "escalate", definition.plural, grant.name)) return;
  rejectMissing(definition, grant, name, readRules(next));
  if (![next, live].some((role) => arrayAt(role, "aggregationRule", "clusterRoleSelectors").length > 0)) return;
  if (missingRules(grant.authorizer.rules(grant.user, ""), everything).length > 0) {
    throw forbidden(definition, name, "must have cluster-admin privileges to use the aggregationRule");
  }
}

function rejectBinding(
  { store }: ServerContext,
  definition: ResourceDefinition,
  grant: Grant,
  name: string,
  binding: JsonObject,
): void {
  const kind = stringAt(binding, "roleRef", "kind") ?? "";
  const roleName = stringAt(binding, "roleRef", "name") ?? "";
  const plural = kind === "Role" ? "roles" : "clusterroles";
  // Validation rejects references to other kinds.
  if ((kind !== "Role" && kind !== "ClusterRole") || may(grant, "bind", plural, roleName)) return;
  const role = findRole(store, kind, grant.namespace, roleName);
  // kube-apiserver reports the binding of this name as not found, not the role.
  if (role === undefined) throw notFound(definition, roleName);
  rejectMissing(definition, grant, name, readRules(role));
}

function rejectMissing(definition: ResourceDefinition, grant: Grant, name: string, rules: readonly PolicyRule[]): void {
  const { user, authorizer, namespace } = grant;
  const missing = missingRules(authorizer.rules(user, namespace), rules);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)})`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${describeRules(missing)}`;
  throw forbidden(definition, name, why);
}

function may({ user, authorizer, namespace }: Grant, verb: string, resource: string, name: string): boolean {
  return authorizer.allows(user, { verb, group: rbacGroup, resource, subresource: "", namespace, name, path: "" });
}

/** Whether a change touches only what the garbage collector changes, which needs no further permissions. */
function isGarbageCollection(next: JsonObject, live: JsonObject): boolean {
  const { metadata: _a, ...after } = next;
  const { metadata: _b, ...before } = live;
  const rest = (object: JsonObject): JsonObject => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, ...others } = objectAt(object, "metadata");
    return others;
  };
  const changes = ["finalizers", "ownerReferences"].some(
    (key) => !jsonEqual(at(next, "metadata", key), at(live, "metadata", key)),
  );
  return changes && jsonEqual(after, before) && jsonEqual(rest(next), rest(live));
}
