import { machineEventReasons } from "@millwright/core";
import type { Reason } from "../decision.ts";

/** Remembers, for this process, which lasting problem of each machine was told last, so that it is told once and not in every pass. */
export interface Told {
  of(uid: string): string | undefined;
  /** Takes note of what a pass told. */
  remember(uid: string, because: readonly Reason[]): void;
  forget(uid: string): void;
}

/** Reasons that tell of a state and not of a change. */
const lasting: ReadonlySet<string> = new Set([
  machineEventReasons.invalidDrainRules,
  machineEventReasons.invalidPreserveValue,
  machineEventReasons.nodeClaimedTwice,
]);

/** Makes an empty memory; it grows with the number of machines that have a problem. */
export function createTold(): Told {
  const last = new Map<string, string>();
  return {
    of: (uid) => last.get(uid),
    remember(uid, because) {
      for (const { reason, message } of because) if (lasting.has(reason)) last.set(uid, message);
    },
    forget: (uid) => void last.delete(uid),
  };
}
