/** Somebody who makes requests. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Everybody, on a server without authentication. */
export const administrator: User = { name: "system:admin", groups: ["system:masters", "system:authenticated"] };

/** Who comes without credentials to a server with authentication. */
export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** A user with the groups that authentication adds: all authenticated ones, and those of service accounts. */
export function authenticated({ name, groups }: User): User {
  const [, , namespace] = name.startsWith("system:serviceaccount:") ? name.split(":").slice(0, 3) : [];
  const ofAccount = namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return { name, groups: [...new Set([...groups, ...ofAccount, "system:authenticated"])] };
}
