/** A user, as authentication identifies it. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  /** More attributes of the user, by key. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The user of every request, on a server without authentication. */
export const administrator: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] };

/** The user of requests without credentials, on a server with authentication. */
export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** A user with the groups that authentication adds: that of authenticated users, and those of service accounts. */
export function authenticated({ name, groups }: User): User {
  const account = serviceAccountOf(name);
  const ofAccount =
    account === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
  return { name, groups: [...new Set([...groups, ...ofAccount, "system:authenticated"])] };
}

/** The service account of a user name; undefined for other users. */
export function serviceAccountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  return namespace === undefined || account === undefined ? undefined : { namespace, name: account };
}
