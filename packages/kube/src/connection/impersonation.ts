import { ConfigError, isRecord } from "@millwright/base";

/** Headers of a request; a list is sent as several headers. */
export type RequestHeaders = Readonly<Record<string, string | string[]>>;

/** A user that requests act as, whatever the kubeconfig names. */
export interface Impersonation {
  readonly user: string;
  /** Default: those that the API server gives the user. */
  readonly groups?: readonly string[] | undefined;
}

/** The fields of a user of a kubeconfig, with another user to act as. */
export function asUser(
  entry: Readonly<Record<string, unknown>>,
  impersonation: Impersonation | undefined,
): Readonly<Record<string, unknown>> {
  if (impersonation === undefined) return entry;
  const { user, groups = [] } = impersonation;
  const { "as-uid": _uid, "as-user-extra": _extra, ...others } = entry;
  return { ...others, as: user, "as-groups": groups };
}

/** Bytes that may be in the name of a header (RFC 9110, `token`), without the percent sign. */
const plainInName = /[^A-Za-z0-9!#$&'*+\-.^_`|~]/gu;

const escapeName = (name: string): string =>
  name.replaceAll(plainInName, (character) =>
    Buffer.from(character).toString("hex").toUpperCase().replaceAll(/../g, "%$&"),
  );

/** A text as the value of a header: Node sends a character as a byte, the API server reads UTF-8. */
const headerValue = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/**
 * The headers of the `as` fields of a user of a kubeconfig: the requests act as another user. Source: Kubernetes documentation, "User impersonation";
 * client-go, `transport/round_trippers.go`.
 *
 * @param user as `readKubeConfigShape` returns it
 * @throws ConfigError that names the field
 */
export function impersonationHeaders(user: Readonly<Record<string, unknown>>, where: string): RequestHeaders {
  const text = (field: string): string | undefined => {
    const value = user[field];
    return typeof value === "string" && value !== "" ? headerValue(value) : undefined;
  };
  const list = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((item) => typeof item === "string").map(headerValue) : [];
  const name = text("as");
  const uid = text("as-uid");
  const groups = list(user["as-groups"]);
  const extra = user["as-user-extra"];
  const extras = Object.entries(isRecord(extra) ? extra : {}).map(
    ([key, values]) => [`impersonate-extra-${escapeName(key)}`, list(values)] as const,
  );
  if (name === undefined && (uid !== undefined || groups.length > 0 || extras.length > 0))
    throw new ConfigError(`${where}: as-uid, as-groups and as-user-extra need as, the name of a user`);
  return {
    ...(name === undefined ? {} : { "impersonate-user": name }),
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": groups }),
    ...Object.fromEntries(extras.filter(([, values]) => values.length > 0)),
  };
}
