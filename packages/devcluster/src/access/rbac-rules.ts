import type { StoredObject } from "../api-object.ts";
import { arrayAt, field, type Json, stringAt } from "../json.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { User } from "./user.ts";

/** A rule of a role. Empty lists stand for "none", `*` for all. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: all names. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const group = "rbac.authorization.k8s.io";

/** The rules that bindings give to a user: those for the whole cluster, and those for a namespace when one is given. */
export function rulesFor(store: ObjectStore, user: User, namespace: string): readonly PolicyRule[] {
  const clusterWide = store.list(`clusterrolebindings.${group}`);
  const local = namespace === "" ? [] : store.list(`rolebindings.${group}`, namespace);
  return [...clusterWide, ...local]
    .filter((binding) => arrayAt(binding, "subjects").some((subject) => isSubject(subject, binding, user)))
    .flatMap((binding) => rulesOfRole(store, binding));
}

function rulesOfRole(store: ObjectStore, binding: StoredObject): readonly PolicyRule[] {
  const name = stringAt(binding, "roleRef", "name") ?? "";
  const role =
    stringAt(binding, "roleRef", "kind") === "Role"
      ? store.get(`roles.${group}`, binding.metadata.namespace ?? "", name)
      : store.get(`clusterroles.${group}`, "", name);
  return arrayAt(role, "rules").map((rule) => ({
    verbs: texts(rule, "verbs"),
    apiGroups: texts(rule, "apiGroups"),
    resources: texts(rule, "resources"),
    resourceNames: texts(rule, "resourceNames"),
    // Paths outside of resources belong to the whole cluster.
    nonResourceURLs: binding.metadata.namespace === undefined ? texts(rule, "nonResourceURLs") : [],
  }));
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
