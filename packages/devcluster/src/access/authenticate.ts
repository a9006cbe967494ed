import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { StatusError } from "../errors/status-error.ts";
import { administrator, anonymous, authenticated, type User } from "./user.ts";

/** Tells who makes a request. Throws 401 for credentials that are not known. */
export type Authenticate = (request: IncomingMessage) => User;

/**
 * Authentication by client certificates of the server's own authority (over TLS) and by bearer tokens, in this order. Without
 * `tokens`, who shows no certificate is the administrator; with them (and be it none), a request without credentials is
 * anonymous, and one with credentials that are not known is refused.
 */
export function authenticateBy(tokens: Readonly<Record<string, TokenUser>> | undefined): Authenticate {
  const known = Object.entries(tokens ?? {}).map(([token, { user, groups = [] }]) => ({
    digest: digestOf(token),
    user: authenticated({ name: user, groups }),
  }));
  return (request) => {
    const certificate = userOfCertificate(request);
    if (certificate !== undefined && certificate !== "unknown") return certificate;
    const header = request.headers.authorization;
    if (tokens === undefined || header === undefined) {
      if (certificate === "unknown") throw unauthorized();
      return tokens === undefined ? administrator : anonymous;
    }
    const token = /^bearer +(\S+)$/i.exec(header.trim())?.[1];
    const digest = digestOf(token ?? "");
    const found = known.find((candidate) => timingSafeEqual(candidate.digest, digest));
    if (token === undefined || found === undefined) throw unauthorized();
    return found.user;
  };
}

/** Who a token stands for. */
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
 * Who the certificate of a connection stands for: its common name is the user, its organizations are the groups. "unknown" for
 * one that our authority has not issued, or that has expired; undefined without a certificate.
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
