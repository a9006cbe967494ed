import { apiTime } from "@millwright/kube";
import type { LastOperation } from "@millwright/core";
import type { FailedOperation } from "./operation.ts";
import { findSameFailure } from "./same-failure.ts";

/** The end of a text about a failure that repeats, with its attempts. */
const note = / \(attempt (\d+) failed at ([^ ;]+), the first at ([^ ;]+); next attempt at ([^ ;)]+)\)/;

/** The attempts that a text of {@link withAttempts} has; times are RFC 3339. */
export interface RecordedAttempts {
  readonly count: number;
  readonly lastAt: string;
  readonly firstAt: string;
  readonly nextAt: string;
}

/** Reads the attempts at the end of a text; `undefined` where it has none. */
export function attemptsIn(text: string): RecordedAttempts | undefined {
  const [, count, lastAt = "", firstAt = "", nextAt = ""] = note.exec(text) ?? [];
  return count === undefined ? undefined : { count: Number(count), lastAt, firstAt, nextAt };
}

/** A text without its attempts: the same for every attempt. */
export const withoutAttempts = (text: string): string => text.replace(note, "");

/** The text is updated at least this often while attempts fail, milliseconds: when it is much older, no controller retries. */
const LONGEST_SILENCE_MS = 60 * 60_000;

/** Whether this attempt is reported: the 2nd, 4th, 8th and so on, and one an hour. */
function isDue({ failures, isAcknowledged }: FailedOperation, last: LastOperation, now: Date): boolean {
  if (isAcknowledged || failures < 2) return false;
  const isPowerOfTwo = 2 ** Math.floor(Math.log2(failures)) === failures;
  return isPowerOfTwo || now.getTime() - Date.parse(last.lastUpdateTime ?? "") >= LONGEST_SILENCE_MS;
}

/**
 * The text about a failed call, with the number of attempts of this process and their times when the same failure was reported before. Between two reports
 * the text stays the same, so that not every attempt is written; it keeps the request ids of the first one.
 *
 * @param last the last operation in the status
 */
export function withAttempts(
  text: string,
  failed: FailedOperation,
  {
    last,
    requeueAfterMs,
    now,
  }: { readonly last: LastOperation | undefined; readonly requeueAfterMs: number; readonly now: Date },
): string {
  const stored = last?.description ?? "";
  const reported = findSameFailure(withoutAttempts(stored), text);
  if (last === undefined || reported === undefined) return text;
  if (!isDue(failed, last, now)) return `${reported}${note.exec(stored)?.[0] ?? ""}`;
  const [at, first, next] = [failed.endedAt, failed.firstFailedAt, now.getTime() + requeueAfterMs].map((ms) =>
    apiTime(new Date(ms)),
  );
  return `${reported} (attempt ${failed.failures} failed at ${at}, the first at ${first}; next attempt at ${next})`;
}
