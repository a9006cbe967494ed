import type { Clock, ResourceType } from "@millwright/base";
import { ApiError, isApiError } from "../client/api-error.ts";
import { keyFor, type ObjectRef } from "../objects/kube-object.ts";

/** A write of one object, as webhooks, policies and RBAC see it. */
export interface ObjectWrite {
  readonly verb: "create" | "patch" | "delete";
  readonly type: ResourceType;
  readonly ref: ObjectRef;
  /** Absent: everything but the status. */
  readonly subresource?: "status" | undefined;
}

/** A write that the API server refused: by a webhook, a policy, a quota, a size limit, or validation. */
export interface Refusal {
  readonly write: ObjectWrite;
  readonly answer: Pick<ApiError, "status" | "reason" | "message">;
  /** How often it was refused in a row. */
  readonly count: number;
  /** Whether it was not sent this time, since it was refused a short time ago. */
  readonly isRepeated: boolean;
}

/** Sends writes, and backs off those that the API server refuses. */
export interface RefusedWrites {
  /** Sends a write, unless the last ones of this verb, object and subresource were refused a short time ago: then it rejects with the last error, and with how long to wait. */
  send<T>(write: ObjectWrite, request: () => Promise<T>): Promise<T>;
}

/** The first refusal is repeated as any failed reconcile; from the second in a row on there are pauses, each twice the one before. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 60_000;

/** Objects of which refusals are remembered: more are refused only when everything is. */
const MOST = 10_000;

/** Refusals in a row, within seconds, that show that a write is refused for longer: a server that restarts refuses one or two. */
const LASTING_COUNT = 3;

/** Statuses that do not mean that this write is refused: credentials, missing objects, conflicts, and a server that has too much to do. */
const otherStatuses: ReadonlySet<number> = new Set([401, 404, 408, 409, 410, 429, 503, 504]);

const isRefusal = (error: unknown): error is ApiError =>
  isApiError(error) && error.status >= 400 && !otherStatuses.has(error.status);

/** What {@link RefusedWrites} rejects with when a write is refused. */
interface RefusedWriteError extends ApiError {
  readonly refusal: Refusal;
}

const isRefused = (error: unknown): error is RefusedWriteError => isApiError(error) && "refusal" in error;

/** The refused write that an error is about; `undefined` for any other error. */
export const refusalOf = (error: unknown): Refusal | undefined => (isRefused(error) ? error.refusal : undefined);

/** Whether a write is refused for longer than a restart of the API server or of its webhook takes, so that people have to know. */
export const isLasting = ({ count }: Pick<Refusal, "count">): boolean => count >= LASTING_COUNT;

/** `patch machines/status default/a`: a write as log lines have it. */
export const describeWrite = ({ verb, type, ref, subresource }: ObjectWrite): string =>
  `${verb} ${resourceOf(type, subresource)} ${keyFor(ref)}`;

/** The resource as RBAC has it: `machines` or `machines/status`. */
export const resourceOf = ({ plural }: ResourceType, subresource: ObjectWrite["subresource"]): string =>
  subresource === undefined ? plural : `${plural}/${subresource}`;

function refusedError(
  cause: ApiError,
  { write, count, isRepeated }: Omit<Refusal, "answer">,
  retryAfterMs = cause.retryAfterMs,
): RefusedWriteError {
  const { status, reason, message, details } = cause;
  const refusal: Refusal = { write, answer: { status, reason, message }, count, isRepeated };
  return Object.assign(new ApiError({ status, reason, message, details, retryAfterMs, cause }), { refusal });
}

interface LastRefusal {
  readonly count: number;
  readonly error: ApiError;
  /** By the monotonic clock. */
  readonly untilMs: number;
}

/**
 * Makes the backoff of the writes of one controller. It is lost on restart: then each object is tried again once.
 *
 * @param onRefused is called with each write that was sent and refused. Must not throw
 */
export function createRefusedWrites(
  clock: Pick<Clock, "monotonicMs">,
  onRefused: (refusal: Refusal) => void = () => undefined,
): RefusedWrites {
  /** Only objects whose last write was refused. */
  const refusals = new Map<string, LastRefusal>();
  return {
    async send(write, request) {
      const { verb, type, ref, subresource = "" } = write;
      // The status and the rest of an object are refused by different rules.
      const id = `${verb}/${type.plural}/${subresource}/${keyFor(ref)}`;
      const last = refusals.get(id);
      const leftMs = (last?.untilMs ?? 0) - clock.monotonicMs();
      if (last !== undefined && leftMs > 0)
        throw refusedError(last.error, { write, count: last.count, isRepeated: true }, leftMs);
      try {
        const written = await request();
        refusals.delete(id);
        return written;
      } catch (error) {
        refusals.delete(id);
        if (!isRefusal(error)) throw error;
        // Each creation is a new one: its controller has its own backoff and report.
        const count = verb === "create" ? 1 : (last?.count ?? 0) + 1;
        const pauseMs = count === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(30, count - 2));
        const [oldest] = refusals.keys();
        if (refusals.size >= MOST && oldest !== undefined) refusals.delete(oldest);
        refusals.set(id, { count, error, untilMs: clock.monotonicMs() + pauseMs });
        const refused = refusedError(error, { write, count, isRepeated: false });
        onRefused(refused.refusal);
        throw refused;
      }
    },
  };
}
