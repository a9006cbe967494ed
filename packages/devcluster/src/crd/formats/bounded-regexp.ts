import { createContext, Script } from "node:vm";
import { StatusError } from "../../errors/status-error.ts";

/** A regular expression whose matches cannot block the process. */
export interface BoundedRegExp {
  readonly source: string;
  /** @throws StatusError when the match takes too long; so do the others */
  test(text: string): boolean;
  /** The first match; empty without one. */
  find(text: string): string;
  findAll(text: string): readonly string[];
}

/** Longest time of one attempt; a match takes too long when its attempts have used the processor for half of it. Matches of sensible patterns take microseconds. */
const maxMatchMs = 1_000;

/** A match takes at most the square of this many steps; longer texts are watched. */
const maxUnwatchedLength = 4096;

/** JavaScript can interrupt what runs in a script of its own. */
const sandbox: { match: () => unknown } = { match: () => undefined };
const context = createContext(sandbox);
const script = new Script("match()");

/** Processor time that this thread has used, milliseconds: on a busy computer, seconds can pass without any. */
function usedMs(): number {
  // Node 22 counts all threads only.
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}

/** Runs `match` in a script of its own. Returns whether it ended in time. */
function endsInTime(match: () => void): boolean {
  sandbox.match = match;
  const startMs = usedMs();
  // The limit of a script is one of the wall clock: a match that has hardly run is tried again.
  while (usedMs() - startMs < maxMatchMs / 2) {
    try {
      script.runInContext(context, { timeout: maxMatchMs });
      return true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
  }
  return false;
}

/**
 * Bounds the time of matches. RE2, which Kubernetes uses, matches in linear time; JavaScript follows alternatives one after another, which takes
 * practically forever for patterns such as `(a+)+$`. A pattern that took too long once is not matched again.
 */
export function boundRegExp(regExp: RegExp): BoundedRegExp {
  const { source } = regExp;
  const all = new RegExp(source, `${regExp.flags}g`);
  const isSimple = !source.includes("|") && (source.match(/[*+?{]/g) ?? []).length <= 1;
  let isTooSlow = false;

  const bounded = <Result>(text: string, match: () => Result): Result => {
    if (isSimple && text.length <= maxUnwatchedLength) return match();
    if (isTooSlow) throw tooSlow(source);
    let result: { readonly value: Result } | undefined;
    endsInTime(() => {
      result = { value: match() };
    });
    isTooSlow = result === undefined;
    if (result === undefined) throw tooSlow(source);
    return result.value;
  };

  return {
    source,
    test: (text) => bounded(text, () => regExp.test(text)),
    find: (text) => bounded(text, () => regExp.exec(text)?.[0] ?? ""),
    findAll: (text) => bounded(text, () => text.match(all) ?? []),
  };
}

const isTimeout = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

const tooSlow = (source: string): StatusError =>
  new StatusError(
    400,
    "BadRequest",
    `a match of the pattern ${source} takes longer than ${maxMatchMs / 1_000} s; write it without nested repetitions`,
  );
