import type { StoredObject } from "../objects/stored-object.ts";
import { arrayAt, field, type Json, stringAt } from "../json/json.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { User } from "./user.ts";

/** A rule of a role. An empty list means none, `*` all. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: all names. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules that a binding grants to a user. */
export interface Granted {
  readonly rules: readonly PolicyRule[];
  /** In the words of kube-apiserver: `RoleBinding "NAME/NAMESPACE" of Role "NAME" to User "NAME"`. */
  readonly by: string;
}

/** The API group of roles and bindings. */
export const rbacGroup = "rbac.authorization.k8s.io";

/** The rules that bindings grant to a user: cluster-wide ones, and those of a namespace when one is given. */
export function grantsFor(store: ObjectStore, user: User, namespace: string): readonly Granted[] {
  const clusterWide = store.list(`clusterrolebindings.${rbacGroup}`);
  const local = namespace === "" ? [] : store.list(`rolebindings.${rbacGroup}`, namespace);
  return [...clusterWide, ...local].flatMap((binding) => {
    const subject = arrayAt(binding, "subjects").find((candidate) => isSubject(candidate, binding, user));
    return subject === undefined
      ? []
      : [{ rules: rulesOfBinding(store, binding), by: describeBinding(binding, subject) }];
  });
}

/** The stored role that a binding in `namespace` refers to; undefined when it does not exist. */
export function findRole(store: ObjectStore, kind: string, namespace: string, name: string): StoredObject | undefined {
  return kind === "Role"
    ? store.get(`roles.${rbacGroup}`, namespace, name)
    : store.get(`clusterroles.${rbacGroup}`, "", name);
}

/** The rules of a role as it is stored or sent. */
export function readRules(role: Json | undefined): readonly PolicyRule[] {
  return arrayAt(role, "rules").map((rule) => ({
    verbs: texts(rule, "verbs"),
    apiGroups: texts(rule, "apiGroups"),
    resources: texts(rule, "resources"),
    resourceNames: texts(rule, "resourceNames"),
    nonResourceURLs: texts(rule, "nonResourceURLs"),
  }));
}

function rulesOfBinding(store: ObjectStore, binding: StoredObject): readonly PolicyRule[] {
  const { namespace } = binding.metadata;
  const kind = stringAt(binding, "roleRef", "kind") ?? "";
  const rules = readRules(findRole(store, kind, namespace ?? "", stringAt(binding, "roleRef", "name") ?? ""));
  // Non-resource URLs are cluster-scoped.
  return namespace === undefined ? rules : rules.map((rule) => ({ ...rule, nonResourceURLs: [] }));
}

function describeBinding(binding: StoredObject, subject: Json): string {
  const { name, namespace } = binding.metadata;
  const role = `${stringAt(binding, "roleRef", "kind")} "${stringAt(binding, "roleRef", "name")}"`;
  const [kind, subjectName] = [stringAt(subject, "kind"), stringAt(subject, "name")];
  const place = stringAt(subject, "namespace") ?? namespace ?? "";
  const who = `${kind} "${kind === "ServiceAccount" ? `${subjectName}/${place}` : subjectName}"`;
  return namespace === undefined
    ? `ClusterRoleBinding "${name}" of ${role} to ${who}`
    : `RoleBinding "${name}/${namespace}" of ${role} to ${who}`;
}

function isSubject(subject: Json, binding: StoredObject, user: User): boolean {
  const name = stringAt(subject, "name") ?? "";
  switch (stringAt(subject, "kind") ?? "") {
    case "User":
      return name === user.name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount": {
      const namespace = stringAt(subject, "namespace") ?? binding.metadata.namespace ?? "";
      return user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
}

function texts(rule: Json, key: string): readonly string[] {
  const list = field(rule, key);
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
