import type { Difference } from "./differences.ts";

/** A difference between the servers that stays. */
export interface KnownDifference {
  readonly id: string;
  /** What each server does. */
  readonly what: string;
  readonly why: string;
  /** Whether a difference is of this kind. */
  readonly covers: (subject: string, step: string, difference: Difference) => boolean;
}

/** All that may differ. Each has to be seen in a run: one that is not, is out of date. */
export const knownDifferences: readonly KnownDifference[] = [];
