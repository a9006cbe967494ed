import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ApiFault } from "../status.ts";
import { administrator, anonymous, authenticated, type User } from "./user.ts";

/** Tells who makes a request. Throws 401 for credentials that are not known. */
export type Authenticate = (request: IncomingMessage) => User;

/**
 * Authentication by bearer tokens. Without tokens everybody is the administrator; with them, a request without a token is
 * anonymous and one with an unknown token is refused.
 */
export function authenticateByToken(tokens: Readonly<Record<string, TokenUser>> | undefined): Authenticate {
  if (tokens === undefined) return () => administrator;
  const known = Object.entries(tokens).map(([token, { user, groups = [] }]) => ({
    digest: digestOf(token),
    user: authenticated({ name: user, groups }),
  }));
  return (request) => {
    const header = request.headers.authorization;
    if (header === undefined) return anonymous;
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
export function unauthorized(): ApiFault {
  return new ApiFault(401, "Unauthorized", "Unauthorized");
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
