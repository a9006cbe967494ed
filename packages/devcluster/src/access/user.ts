/** Somebody who makes requests. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  /** What else is known of the user, by key. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Everybody, on a server without authentication. */
export const administrator: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] };

/** Who comes without credentials to a server with authentication. */
export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** A user with the groups that authentication adds: all authenticated ones, and those of service accounts. */
export function authenticated({ name, groups }: User): User {
  const account = serviceAccountOf(name);
  const ofAccount =
    account === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`];
  return { name, groups: [...new Set([...groups, ...ofAccount, "system:authenticated"])] };
}

/** The service account that a user name stands for; undefined for other users. */
export function serviceAccountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  return namespace === undefined || account === undefined ? undefined : { namespace, name: account };
}
