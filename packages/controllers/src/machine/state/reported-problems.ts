import { machineEventReasons } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";

/** What was told of a machine last, by the reason of the event. */
export type ReportedProblems = ReadonlyMap<string, string>;

/** Remembers, for this process, which lasting problems of each machine were told last, so that each is told once and not in every pass. */
export interface ReportedStates {
  of(uid: string): ReportedProblems;
  /** Takes note of what a pass told. */
  record(uid: string, because: readonly Reason[]): void;
  forget(uid: string): void;
}

/** Reasons that tell of a state and not of a change. */
const lastingReasons: ReadonlySet<string> = new Set([
  machineEventReasons.invalidDrainRules,
  machineEventReasons.invalidPreserveValue,
  machineEventReasons.nodeClaimedTwice,
]);

const nothing: ReportedProblems = new Map();

/** Makes an empty memory; it grows with the number of machines that have a problem. */
export function createReportedProblems(): ReportedStates {
  const last = new Map<string, ReportedProblems>();
  return {
    of: (uid) => last.get(uid) ?? nothing,
    record(uid, because) {
      const lasting = because.filter(({ reason }) => lastingReasons.has(reason));
      if (lasting.length === 0) return;
      last.set(
        uid,
        new Map([...(last.get(uid) ?? []), ...lasting.map(({ reason, message }) => [reason, message] as const)]),
      );
    },
    forget: (uid) => void last.delete(uid),
  };
}
