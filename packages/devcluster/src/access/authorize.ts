import type { RequestAttributes } from "../request/request-attributes.ts";
import { ApiFault, forbidden } from "../errors/status-error.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { grantsFor, type PolicyRule } from "./rbac-rules.ts";
import type { User } from "./user.ts";

/** What somebody wants to do: the part of a request's attributes that decides. */
export type Wish = Pick<
  RequestAttributes,
  "verb" | "group" | "resource" | "subresource" | "namespace" | "name" | "path"
>;

/** Decides who may do what. */
export interface Authorizer {
  allows(user: User, wish: Wish): boolean;
  /** What allows it, as reviews say it; empty when that needs no role, undefined when nothing allows it. */
  reason(user: User, wish: Wish): string | undefined;
  /** The rules that a user has in a namespace. */
  rules(user: User, namespace: string): readonly PolicyRule[];
}

const everything: PolicyRule = {
  verbs: ["*"],
  apiGroups: ["*"],
  resources: ["*"],
  resourceNames: [],
  nonResourceURLs: [],
};
const everyPath: PolicyRule = { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] };

/** Allows everything to everybody who is authenticated; the anonymous may ask for health and version. */
export const allowAll: Authorizer = {
  allows: (user, wish) => isPublic(wish) || !user.groups.includes("system:unauthenticated"),
  reason: (user, wish) => (allowAll.allows(user, wish) ? "" : undefined),
  rules: () => [everything, everyPath],
};

/** Evaluates the stored roles and bindings. Members of `system:masters` may do everything. */
export function rbacAuthorizer(store: ObjectStore): Authorizer {
  const isMaster = (user: User): boolean => user.groups.includes("system:masters");
  const reason = (user: User, wish: Wish): string | undefined => {
    if (isPublic(wish) || isMaster(user)) return "";
    const grant = grantsFor(store, user, wish.namespace).find(({ rules }) => rules.some((rule) => covers(rule, wish)));
    return grant === undefined ? undefined : `RBAC: allowed by ${grant.by}`;
  };
  return {
    reason,
    allows: (user, wish) => reason(user, wish) !== undefined,
    rules: (user, namespace) =>
      isMaster(user) ? [everything, everyPath] : grantsFor(store, user, namespace).flatMap(({ rules }) => rules),
  };
}

/** Throws what kube-apiserver answers to somebody who may not do what they want. */
export function refuse(user: User, wish: Wish): never {
  const who = `User ${JSON.stringify(user.name)}`;
  if (wish.resource === "") {
    throw new ApiFault(403, "Forbidden", `forbidden: ${who} cannot ${wish.verb} path ${JSON.stringify(wish.path)}`, {});
  }
  const resource = wish.subresource === "" ? wish.resource : `${wish.resource}/${wish.subresource}`;
  const where = wish.namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(wish.namespace)}`;
  const why = `${who} cannot ${wish.verb} resource "${resource}" in API group "${wish.group}" ${where}`;
  throw forbidden({ group: wish.group, plural: wish.resource, kind: "" }, wish.name, why);
}

const publicPaths: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

function isPublic({ resource, path, verb }: Wish): boolean {
  return resource === "" && (verb === "get" || verb === "head") && publicPaths.has(path);
}

function covers(rule: PolicyRule, wish: Wish): boolean {
  if (!includes(rule.verbs, wish.verb)) return false;
  if (wish.resource === "") return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, wish.path));
  const { subresource } = wish;
  const resource = subresource === "" ? wish.resource : `${wish.resource}/${subresource}`;
  const isResource =
    includes(rule.resources, resource) || (subresource !== "" && rule.resources.includes(`*/${subresource}`));
  if (!isResource || !includes(rule.apiGroups, wish.group)) return false;
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(wish.name);
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
