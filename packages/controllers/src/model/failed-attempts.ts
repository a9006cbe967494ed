import { type FailureEvent, type MachineStatus, readOperation } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import type { FailedOperation } from "./operation.ts";
import { isSameFailure } from "./same-failure.ts";

/** The attempts are reported at least this often while they fail, milliseconds: when the last report is much older, no controller retries. */
const LONGEST_SILENCE_MS = 60 * 60_000;

/** Whether this attempt is reported: the 2nd, 4th, 8th and so on, and one an hour. */
function isDue({ failures, isAcknowledged }: FailedOperation, lastUpdateTime: string, now: Date): boolean {
  if (isAcknowledged || failures < 2) return false;
  const isPowerOfTwo = 2 ** Math.floor(Math.log2(failures)) === failures;
  return isPowerOfTwo || now.getTime() - Date.parse(lastUpdateTime) >= LONGEST_SILENCE_MS;
}

/** When an attempt is reported. */
interface AttemptContext {
  /** Before the report. */
  readonly status: MachineStatus | undefined;
  readonly requeueAfterMs: number;
  readonly now: Date;
}

/**
 * A failed call as the status is to report it: when the same failure was reported before, in the words of the first report, which may have another request id, and with the number of attempts of this process and
 * their times. Between two reports it stays the same, so that not every attempt is written.
 */
export function withAttempts(
  event: FailureEvent,
  failed: FailedOperation,
  { status, requeueAfterMs, now }: AttemptContext,
): FailureEvent {
  const { reason, code, message = "", attempts } = readOperation(status);
  if (reason !== event.reason || code !== event.code || !isSameFailure(message, event.message)) return event;
  const reported = { ...event, message };
  if (!isDue(failed, status?.lastOperation?.lastUpdateTime ?? "", now))
    return attempts === undefined ? reported : { ...reported, attempts };
  const [lastTime = "", firstTime = ""] = [failed.endedAt, failed.firstFailedAt].map((ms) => apiTime(new Date(ms)));
  const pauseSeconds = Math.max(0, Math.floor((now.getTime() + requeueAfterMs - failed.endedAt) / 1000));
  return { ...reported, attempts: { count: failed.failures, firstTime, lastTime, pauseSeconds } };
}
