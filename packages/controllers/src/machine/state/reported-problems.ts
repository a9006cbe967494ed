import { machineEventReasons } from "@millwright/core";
import type { Reason } from "../../model/decision.ts";

/** The last reported problems of a machine: message by reason of the event. */
export type ReportedProblems = ReadonlyMap<string, string>;

/** Keeps the last reported problems of each machine in memory, so that a lasting problem is reported once and not in each reconcile. */
export interface ReportedStates {
  of(uid: string): ReportedProblems;
  /** Records the events of a reconcile. */
  record(uid: string, because: readonly Reason[]): void;
  forget(uid: string): void;
}

/** Reasons of events about a lasting problem, not a change. */
const lastingReasons: ReadonlySet<string> = new Set([
  machineEventReasons.deletionPaused,
  machineEventReasons.invalidDrainRules,
  machineEventReasons.invalidPreserveValue,
  machineEventReasons.nodeClaimedTwice,
]);

const nothing: ReportedProblems = new Map();

/** Makes an empty record; it grows with the number of machines that have a problem. */
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
