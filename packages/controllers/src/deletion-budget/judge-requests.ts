import type { DeletionCause, HeldDeletions } from "../model/deletion-budget.ts";
import { judgeShare, MIN_LOSS } from "./judge-share.ts";
import type { RequestedDeletions } from "./requested-deletions.ts";

/** A request is complete when no deletion was added for this long, milliseconds: a client deletes many objects one by one. */
const QUIET_MS = 1_000;
const LARGE_QUIET_MS = 5_000;

/** Requests that never end are judged after this time, milliseconds. */
const MAX_WAIT_MS = 60_000;

/** One Machine that a person deletes is not held, whatever was deleted before; another one within this time is, milliseconds. */
const SINGLE_INTERVAL_MS = 60_000;

/** Deletions that other clients request, by scope: the narrowest first, the namespace last. */
export type Requests = readonly [RequestedDeletions, ...RequestedDeletions[]];

/** How many machines the widest request concerns. */
const countOf = (requests: Requests): number => Math.max(...requests.map(({ count }) => count));

/** Times of the monotonic clock, milliseconds. */
export interface RequestTimes {
  readonly nowMs: number;
  /** When the last deletion was requested. */
  readonly lastMs: number;
  /** Since when deletions wait; `undefined` when none does. */
  readonly waitsSinceMs: number | undefined;
}

/** Milliseconds until all deletions of a request are seen. */
export function untilComplete(requests: Requests, { nowMs, lastMs, waitsSinceMs = nowMs }: RequestTimes): number {
  if (nowMs - waitsSinceMs >= MAX_WAIT_MS) return 0;
  const quietMs = countOf(requests) > MIN_LOSS ? LARGE_QUIET_MS : QUIET_MS;
  return Math.max(0, lastMs + quietMs - nowMs);
}

/** May the machines that other clients delete be deleted now? */
export function judgeRequests(requests: Requests, cause: DeletionCause, share: number): HeldDeletions | undefined {
  const verdict = judgeShare(requests, share);
  if (verdict.isAllowed) return undefined;
  const { scope, limit } = verdict;
  const { kind, name, inService, loss } = scope;
  return { why: "share", cause, count: requests[0].count, scope: { kind, name }, limit, total: inService + loss, loss };
}

/** Whether the fleet is so small that nothing is ever held, and nothing has to be waited for. */
export const isSmall = (requests: Requests): boolean =>
  requests.every(({ scope: { inService, loss } }) => inService + loss <= MIN_LOSS);

/**
 * Whether a request is one Machine that a person deletes.
 *
 * @param sinceLastMs milliseconds since the last Machine that a person deleted
 */
export const isSingle = (requests: Requests, cause: DeletionCause, sinceLastMs: number): boolean =>
  countOf(requests) === 1 && cause === "machine" && sinceLastMs >= SINGLE_INTERVAL_MS;
