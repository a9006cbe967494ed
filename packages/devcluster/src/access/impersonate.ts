import type { IncomingMessage } from "node:http";
import { badRequest } from "../errors/status-error.ts";
import { type Authorizer, forbid, type AccessAttributes } from "./authorize.ts";
import { serviceAccountOf, type User } from "./user.ts";

const extraPrefix = "impersonate-extra-";

/**
 * The user that a request is made as: its own, or the one of the `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…` headers.
 * Throws 403 when the user may not `impersonate` one of them, and 400 for headers without a user. Source: Kubernetes
 * documentation, "User impersonation".
 */
export function impersonated(raw: IncomingMessage, user: User, authorizer: Authorizer): User {
  // Reading the distinct headers is slow, and few requests have such a header.
  if (!Object.keys(raw.headers).some((name) => name.startsWith("impersonate-"))) return user;
  const headers = raw.headersDistinct;
  const name = headers["impersonate-user"]?.[0] ?? "";
  const groups = headers["impersonate-group"] ?? [];
  const uid = headers["impersonate-uid"]?.[0] ?? "";
  const extra = extrasOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && extra.size === 0) return user;
    throw badRequest("impersonation of groups, a UID or extras needs a user: add the header Impersonate-User");
  }
  for (const part of impersonatedAttributes(name, groups, uid, extra)) {
    const base = { verb: "impersonate", group: "", resource: "", subresource: "", namespace: "", name: "", path: "" };
    if (!authorizer.allows(user, { ...base, ...part })) forbid(user, { ...base, ...part });
  }
  return {
    name,
    groups: completeGroups(name, groups),
    ...(uid === "" ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

function impersonatedAttributes(
  name: string,
  groups: readonly string[],
  uid: string,
  extra: ReadonlyMap<string, readonly string[]>,
): readonly Partial<AccessAttributes>[] {
  const account = serviceAccountOf(name);
  const group = "authentication.k8s.io";
  return [
    account === undefined
      ? { resource: "users", name }
      : { resource: "serviceaccounts", namespace: account.namespace, name: account.name },
    ...groups.map((requested) => ({ resource: "groups", name: requested })),
    ...[...extra].flatMap(([subresource, values]) =>
      values.map((value) => ({ group, resource: "userextras", subresource, name: value })),
    ),
    ...(uid === "" ? [] : [{ group, resource: "uids", name: uid }]),
  ];
}

/** The requested groups, or those of a service account, with the group of (un)authenticated users. */
function completeGroups(name: string, requested: readonly string[]): readonly string[] {
  const account = serviceAccountOf(name);
  const own =
    requested.length > 0 || account === undefined
      ? requested
      : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
  if (name === "system:anonymous") {
    return own.includes("system:unauthenticated") ? own : [...own, "system:unauthenticated"];
  }
  const isExplicit = own.includes("system:authenticated") || own.includes("system:unauthenticated");
  return isExplicit ? own : [...own, "system:authenticated"];
}

function extrasOf(headers: IncomingMessage["headersDistinct"]): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const [name, values = []] of Object.entries(headers)) {
    if (name.startsWith(extraPrefix) && values.length > 0) extra.set(unescaped(name.slice(extraPrefix.length)), values);
  }
  return extra;
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
