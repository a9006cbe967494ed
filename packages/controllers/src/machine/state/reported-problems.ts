import { machineEventReasons } from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";

/** The last reported problems of a machine: message by reason of the event. */
export type ReportedProblems = ReadonlyMap<string, string>;

export type ReportedStates = ReturnType<typeof createReportedProblems>;

/** Reasons of events about a lasting problem, not a change. */
const lastingReasons: ReadonlySet<string> = new Set([
  machineEventReasons.deletionPaused,
  machineEventReasons.invalidDrainRules,
  machineEventReasons.invalidPreserveValue,
  machineEventReasons.nodeClaimedTwice,
]);

const nothing: ReportedProblems = new Map();

/**
 * Keeps the last reported problems of each machine in memory, so that a lasting problem is reported once and not in each reconcile. It grows with the number of machines
 * that have a problem.
 */
export function createReportedProblems() {
  const last = new Map<string, ReportedProblems>();
  return {
    of: (uid: string): ReportedProblems => last.get(uid) ?? nothing,
    /** Records the events of a reconcile. */
    record(uid: string, because: readonly Reason[]): void {
      const lasting = because.filter(({ reason }) => lastingReasons.has(reason));
      if (lasting.length === 0) return;
      const messages = lasting.map(({ reason, message }) => [reason, message] as const);
      last.set(uid, new Map([...(last.get(uid) ?? []), ...messages]));
    },
    forget: (uid: string): void => void last.delete(uid),
  };
}
