import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { StatusError } from "../errors/status-error.ts";
import { administrator, anonymous, authenticated, type User } from "./user.ts";

/** Identifies users by their credentials. */
export interface Authenticator {
  /** The user of a request. Throws 401 for unknown credentials. */
  readonly userOf: (request: IncomingMessage) => User;
  /** The user of a bearer token; `undefined` for an unknown one. */
  readonly userOfToken: (token: string) => User | undefined;
}

/**
 * Authenticates by client certificates of the server's own authority (over TLS), then by bearer tokens. Without `tokens`, a
 * request without a certificate is the administrator's. With them (even none), a request without credentials is anonymous, and
 * one with unknown credentials is rejected.
 */
export function authenticateBy(tokens: Readonly<Record<string, TokenUser>> | undefined): Authenticator {
  const known = Object.entries(tokens ?? {}).map(([token, { user, groups = [] }]) => ({
    digest: digestOf(token),
    user: authenticated({ name: user, groups }),
  }));
  const userOfToken = (token: string): User | undefined => {
    const digest = digestOf(token);
    return known.find((candidate) => timingSafeEqual(candidate.digest, digest))?.user;
  };
  const userOf = (request: IncomingMessage): User => {
    const certificate = userOfCertificate(request);
    if (certificate !== undefined && certificate !== "unknown") return certificate;
    const header = request.headers.authorization;
    if (tokens === undefined || header === undefined) {
      if (certificate === "unknown") throw unauthorized();
      return tokens === undefined ? administrator : anonymous;
    }
    const token = /^bearer +(\S+)$/i.exec(header.trim())?.[1];
    const found = token === undefined ? undefined : userOfToken(token);
    if (found === undefined) throw unauthorized();
    return found;
  };
  return { userOf, userOfToken };
}

/** The user of a token. */
export interface TokenUser {
  /** A name such as `jane`, `system:serviceaccount:NAMESPACE:NAME` or `system:node:NAME`. */
  readonly user: string;
  /** `system:masters` may do everything. */
  readonly groups?: readonly string[];
}

/** 401, in the words of kube-apiserver. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}

/**
 * The user of a connection's certificate: its common name, with its organizations as groups. "unknown" for a certificate that
 * the server's authority has not issued, or that has expired; undefined without a certificate.
 */
function userOfCertificate({ socket }: IncomingMessage): User | "unknown" | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const subject: unknown = Reflect.get(socket.getPeerCertificate() ?? {}, "subject");
  if (typeof subject !== "object" || subject === null) return undefined;
  const name: unknown = Reflect.get(subject, "CN");
  const organizations: unknown = Reflect.get(subject, "O");
  if (!socket.authorized || typeof name !== "string" || name === "") return "unknown";
  const groups = (Array.isArray(organizations) ? organizations : [organizations]).filter(
    (group: unknown) => typeof group === "string",
  );
  return authenticated({ name, groups });
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
