import type { RequestAttributes } from "../request/request-attributes.ts";
import { StatusError, forbidden } from "../errors/status-error.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { grantsFor, type PolicyRule } from "./rbac-rules.ts";
import type { User } from "./user.ts";

/** The attributes of a request that authorization decides by. */
export type AccessAttributes = Pick<
  RequestAttributes,
  "verb" | "group" | "resource" | "subresource" | "namespace" | "name" | "path"
>;

/** Decides which requests a user may make. */
export interface Authorizer {
  allows(user: User, attributes: AccessAttributes): boolean;
  /** Why it is allowed, for access reviews; empty when no role is needed, undefined when it is not allowed. */
  reason(user: User, attributes: AccessAttributes): string | undefined;
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

/** Allows everything to authenticated users; anonymous ones may read health and version. */
export const allowAll: Authorizer = {
  allows: (user, attributes) => isPublic(attributes) || !user.groups.includes("system:unauthenticated"),
  reason: (user, attributes) => (allowAll.allows(user, attributes) ? "" : undefined),
  rules: () => [everything, everyPath],
};

/** Evaluates the stored roles and bindings. Members of `system:masters` may do everything. */
export function rbacAuthorizer(store: ObjectStore): Authorizer {
  const isMaster = (user: User): boolean => user.groups.includes("system:masters");
  const reason = (user: User, attributes: AccessAttributes): string | undefined => {
    if (isPublic(attributes) || isMaster(user)) return "";
    const grant = grantsFor(store, user, attributes.namespace).find(({ rules }) =>
      rules.some((rule) => covers(rule, attributes)),
    );
    return grant === undefined ? undefined : `RBAC: allowed by ${grant.by}`;
  };
  return {
    reason,
    allows: (user, attributes) => reason(user, attributes) !== undefined,
    rules: (user, namespace) =>
      isMaster(user) ? [everything, everyPath] : grantsFor(store, user, namespace).flatMap(({ rules }) => rules),
  };
}

/** Throws the 403 of kube-apiserver. */
export function forbid(user: User, attributes: AccessAttributes): never {
  const who = `User ${JSON.stringify(user.name)}`;
  if (attributes.resource === "") {
    throw new StatusError(
      403,
      "Forbidden",
      `forbidden: ${who} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}`,
      {},
    );
  }
  const resource =
    attributes.subresource === "" ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const where =
    attributes.namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(attributes.namespace)}`;
  const why = `${who} cannot ${attributes.verb} resource "${resource}" in API group "${attributes.group}" ${where}`;
  throw forbidden({ group: attributes.group, plural: attributes.resource, kind: "" }, attributes.name, why);
}

const publicPaths: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

function isPublic({ resource, path, verb }: AccessAttributes): boolean {
  return resource === "" && (verb === "get" || verb === "head") && publicPaths.has(path);
}

function covers(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!includes(rule.verbs, attributes.verb)) return false;
  if (attributes.resource === "") return rule.nonResourceURLs.some((pattern) => matchesPath(pattern, attributes.path));
  const { subresource } = attributes;
  const resource = subresource === "" ? attributes.resource : `${attributes.resource}/${subresource}`;
  const isResource =
    includes(rule.resources, resource) || (subresource !== "" && rule.resources.includes(`*/${subresource}`));
  if (!isResource || !includes(rule.apiGroups, attributes.group)) return false;
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name);
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === "*" || pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
