import type { Clock } from "@millwright/base";

/** How many lines are logged. */
export interface LineLimit {
  /** How many at once, after a long time without one. */
  readonly burst: number;
  /** From then on one in as many milliseconds. */
  readonly periodMs: number;
}

/** Limits the lines of each subject by itself. Remembers each subject: there must be few. */
export interface LineLimiter {
  /**
   * Asks for one line of a subject.
   *
   * @returns how many lines were left out since the last one; `undefined` when this one is left out
   */
  admit(subject: string): number | undefined;
}

interface Subject {
  /** Lines that may be logged at `atMs`, with fractions. */
  tokens: number;
  atMs: number;
  leftOut: number;
}

/** Makes a limiter. */
export function createLineLimiter({ burst, periodMs }: LineLimit, clock: Pick<Clock, "monotonicMs">): LineLimiter {
  const subjects = new Map<string, Subject>();
  return {
    admit(name) {
      const nowMs = clock.monotonicMs();
      const subject = subjects.get(name) ?? { tokens: burst, atMs: nowMs, leftOut: 0 };
      subjects.set(name, subject);
      subject.tokens = Math.min(burst, subject.tokens + (nowMs - subject.atMs) / periodMs);
      subject.atMs = nowMs;
      if (subject.tokens < 1) {
        subject.leftOut++;
        return undefined;
      }
      subject.tokens--;
      const { leftOut } = subject;
      subject.leftOut = 0;
      return leftOut;
    },
  };
}
