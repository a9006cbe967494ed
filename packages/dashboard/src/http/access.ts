import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { type Clock, isRecord, machineResource } from "@millwright/core";
import type { ApiClient } from "@millwright/kube";

/** Who may read. */
export interface AccessOptions {
  /** The IP address that is listened on: on a loopback address no token is needed. */
  readonly address: string;
  /** Reviews tokens, with the API server of the machines. */
  readonly control: Pick<ApiClient, "request">;
  /** Namespaces in which a user must be allowed to get machines. */
  readonly namespaces: readonly string[];
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Why a request is rejected. */
export interface Rejection {
  readonly status: number;
  readonly text: string;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether an IP address is reached from this machine only. */
export const isLoopback = (address: string): boolean => loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** The host of a `Host` header without its port. */
const hostOf = (header: string): string => header.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");

/** A web page of a name that an attacker resolves to this machine has another host (DNS rebinding). */
const isLocalHost = (host: string): boolean => host === "localhost" || (isIP(host) !== 0 && isLoopback(host));

/** How long the result of a review holds, milliseconds. */
export const REVIEW_MS = 30_000;

/** Reviews that are kept; more tokens at once are not honest ones. */
const MAX_REVIEWS = 1_000;

const MAX_TOKEN = 16_384;

const statusOf = (body: unknown): Readonly<Record<string, unknown>> =>
  isRecord(body) && isRecord(body["status"]) ? body["status"] : {};

/** Posts a review. `undefined`: the API server did not do it. */
async function review(
  control: Pick<ApiClient, "request">,
  [group, kind, plural]: readonly [string, string, string],
  spec: object,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = `/apis/${group}/v1/${plural}`;
  const body = { apiVersion: `${group}/v1`, kind, spec };
  const { status, body: answer } = await control.request({ method: "POST", path, body });
  return status === 200 || status === 201 ? statusOf(answer) : undefined;
}

const tokenReview = ["authentication.k8s.io", "TokenReview", "tokenreviews"] as const;
const accessReview = ["authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews"] as const;

const unavailable: Rejection = {
  status: 503,
  text: "the token cannot be reviewed: the service account of this process needs ClusterRole system:auth-delegator",
};

/** Reviews a token: a known user, who may get machines in each namespace. */
async function rejectionOfToken(token: string, { control, namespaces }: AccessOptions): Promise<Rejection | undefined> {
  const known = await review(control, tokenReview, { token });
  if (known === undefined) return unavailable;
  const user = isRecord(known["user"]) ? known["user"] : {};
  if (known["authenticated"] !== true || typeof user["username"] !== "string")
    return { status: 401, text: "the token is not valid" };
  const subject = { user: user["username"], groups: user["groups"], uid: user["uid"], extra: user["extra"] };
  const { group, plural: resource } = machineResource;
  for (const namespace of namespaces) {
    const resourceAttributes = { verb: "get", group, resource, namespace };
    const access = await review(control, accessReview, { ...subject, resourceAttributes });
    if (access === undefined) return unavailable;
    if (access["allowed"] !== true)
      return { status: 403, text: `this user may not get machines in namespace ${namespace}` };
  }
  return undefined;
}

/** Decides whether requests are answered. */
export function createAccess(
  options: AccessOptions,
): (request: Pick<IncomingMessage, "headers">) => Promise<Rejection | undefined> {
  if (isLoopback(options.address))
    return ({ headers }) =>
      Promise.resolve(
        isLocalHost(hostOf(headers.host ?? "")) ? undefined : { status: 403, text: "the host is not this machine" },
      );
  /** Results by the digest of the token: tokens themselves are not kept. Invariant: the oldest first. */
  const reviews = new Map<string, { readonly atMs: number; readonly result: Promise<Rejection | undefined> }>();
  return async ({ headers }) => {
    const token = /^Bearer ([\w\-.~+/=]+)$/.exec(headers.authorization ?? "")?.[1];
    if (token === undefined || token.length > MAX_TOKEN) return { status: 401, text: "a bearer token is required" };
    const key = createHash("sha256").update(token).digest("base64");
    const nowMs = options.clock.monotonicMs();
    const last = reviews.get(key);
    if (last !== undefined && nowMs - last.atMs < REVIEW_MS) return last.result;
    const result = rejectionOfToken(token, options).catch((): Rejection => {
      reviews.delete(key);
      return { status: 503, text: "the token cannot be reviewed: the API server is unreachable" };
    });
    reviews.delete(key);
    const [oldest] = reviews.keys();
    if (oldest !== undefined && reviews.size >= MAX_REVIEWS) reviews.delete(oldest);
    reviews.set(key, { atMs: nowMs, result });
    return result;
  };
}
