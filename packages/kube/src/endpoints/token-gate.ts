import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "@millwright/base";
import { createRateLimit } from "./rate-limit.ts";

/** Why a request is rejected. */
export interface Rejection {
  readonly status: number;
  readonly text: string;
  /** When to try again: the header `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** Options of {@link createTokenGate}. */
export interface TokenGateOptions {
  /** Reviews a token with the API server. `undefined`: it may be used. */
  readonly review: (token: string) => Promise<Rejection | undefined>;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Decides whether a request is answered, by its bearer token. */
export type TokenGate = (request: Pick<IncomingMessage, "headers" | "socket">) => Promise<Rejection | undefined>;

/** After this time a user who is known is reviewed again, milliseconds. */
export const ACCEPTED_MS = 30_000;

/** How long a user is known at most without another review, milliseconds: those who read go on while the API server is slow. */
export const KNOWN_MS = 90_000;

/** How long a token is rejected without another review, milliseconds: permissions are often granted a moment later. */
export const REJECTED_MS = 10_000;

/** After a review that failed, milliseconds. */
const FAILED_MS = 1_000;

/** Most reviews at the same time. */
export const CONCURRENT_REVIEWS = 4;

/** Reviews for all clients. Users who were known a moment ago do not count. */
export const REVIEW_RATE = { perMinute: 60, burst: 20 };

/** Reviews for one peer: one that sends random tokens leaves the other turns to the others. */
const PEER_RATE = { perMinute: 30, burst: 10 };

/** Tokens whose review is kept. */
const MAX_KEPT = 1_000;

const MAX_TOKEN = 16_384;

const overLimit = (waitMs: number): Rejection => ({
  status: 429,
  text: "too many tokens are being reviewed; try again later",
  retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
});

interface Kept {
  readonly result: Promise<Rejection | undefined>;
  /** `undefined` until the review is done. */
  untilMs?: number;
  /** When the user was last accepted, unless rejected since. */
  acceptedMs?: number | undefined;
}

/** Creates a gate that reviews each token once in a while. Random tokens cost the API server no more than {@link REVIEW_RATE}. */
export function createTokenGate({ review, clock }: TokenGateOptions): TokenGate {
  /** Results by the digest of the token: tokens themselves are not kept. Invariant: the oldest first. */
  const kept = new Map<string, Kept>();
  const takeTurn = createRateLimit(REVIEW_RATE);
  const takePeerTurn = createRateLimit(PEER_RATE);
  let running = 0;

  /** In how many milliseconds another token may be reviewed; 0: now. */
  const waitFor = (peer: string, nowMs: number): number => {
    if (running >= CONCURRENT_REVIEWS) return 1_000;
    return takePeerTurn(peer, nowMs) || takeTurn("", nowMs);
  };
  const keepResult = async (entry: Kept): Promise<void> => {
    const rejection = await entry.result;
    const isFailed = rejection !== undefined && rejection.status >= 500;
    const nowMs = clock.monotonicMs();
    if (!isFailed) entry.acceptedMs = rejection === undefined ? nowMs : undefined;
    const keptMs = isFailed ? FAILED_MS : rejection === undefined ? ACCEPTED_MS : REJECTED_MS;
    entry.untilMs = nowMs + keptMs;
  };
  const start = (key: string, token: string, acceptedMs: number | undefined): Promise<Rejection | undefined> => {
    running += 1;
    const result = review(token)
      .catch((): Rejection => ({ status: 503, text: "the token cannot be reviewed: the API server is unreachable" }))
      .finally(() => (running -= 1));
    const entry: Kept = { result, acceptedMs };
    kept.delete(key);
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size >= MAX_KEPT) kept.delete(oldest);
    kept.set(key, entry);
    void keepResult(entry);
    return result;
  };
  return async ({ headers, socket }) => {
    const token = /^Bearer ([\w\-.~+/=]+)$/.exec(headers.authorization ?? "")?.[1];
    if (token === undefined || token.length > MAX_TOKEN) return { status: 401, text: "a bearer token is required" };
    const key = createHash("sha256").update(token).digest("base64");
    const nowMs = clock.monotonicMs();
    const last = kept.get(key);
    const acceptedMs = last?.acceptedMs;
    const isReviewed = last !== undefined && nowMs < (last.untilMs ?? Infinity);
    // A user who is known neither waits for the tokens of others nor is shut out by them.
    if (acceptedMs !== undefined && nowMs - acceptedMs < KNOWN_MS) {
      if (!isReviewed) void start(key, token, acceptedMs);
      return undefined;
    }
    if (isReviewed) return last.result;
    const waitMs = acceptedMs === undefined ? waitFor(socket.remoteAddress ?? "", nowMs) : 0;
    return waitMs > 0 ? overLimit(waitMs) : start(key, token, acceptedMs);
  };
}
