import type { Clock } from "@millwright/base";
import { ApiError, isApiError } from "../client/api-error.ts";

/** Backs off writes that the API server refuses: by a webhook, a quota, a size limit, or validation. */
export interface RefusedWrites {
  /** Sends a write of one object, unless the last ones were refused a short time ago: then it rejects with the last error, and with how long to wait. */
  send<T>(id: string, write: () => Promise<T>): Promise<T>;
}

/** The first refusal is repeated as any failed reconcile; from the second in a row on there are pauses, each twice the one before. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 60_000;

/** Objects of which refusals are remembered: more are refused only when everything is. */
const MOST = 10_000;

/** Statuses that do not mean that this write is refused: credentials, missing objects, conflicts, and a server that has too much to do. */
const otherStatuses: ReadonlySet<number> = new Set([401, 404, 408, 409, 410, 429, 503, 504]);

const isRefusal = (error: unknown): error is ApiError =>
  isApiError(error) && error.status >= 400 && !otherStatuses.has(error.status);

interface Refusal {
  readonly count: number;
  readonly error: ApiError;
  /** By the monotonic clock. */
  readonly untilMs: number;
}

/** Makes the backoff of the writes of one controller. It is lost on restart: then each object is tried again once. */
export function createRefusedWrites(clock: Pick<Clock, "monotonicMs">): RefusedWrites {
  /** Only objects whose last write was refused. */
  const refusals = new Map<string, Refusal>();
  return {
    async send(id, write) {
      const last = refusals.get(id);
      const leftMs = (last?.untilMs ?? 0) - clock.monotonicMs();
      if (last !== undefined && leftMs > 0) {
        const { status, reason, message } = last.error;
        throw new ApiError({ status, reason, message, retryAfterMs: leftMs, cause: last.error });
      }
      try {
        const written = await write();
        refusals.delete(id);
        return written;
      } catch (error) {
        refusals.delete(id);
        if (!isRefusal(error)) throw error;
        const count = (last?.count ?? 0) + 1;
        const pauseMs = count === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(30, count - 2));
        const [oldest] = refusals.keys();
        if (refusals.size >= MOST && oldest !== undefined) refusals.delete(oldest);
        refusals.set(id, { count, error, untilMs: clock.monotonicMs() + pauseMs });
        throw error;
      }
    },
  };
}
