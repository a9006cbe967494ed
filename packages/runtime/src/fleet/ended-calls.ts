import type { EndedCall } from "../drivers/call-driver.ts";

/** A call of a driver about a machine, and when it ended. */
export interface RecordedCall extends EndedCall {
  readonly endedAt: Date;
}

/** Calls of one machine that are kept. */
const MAX_PER_MACHINE = 20;

/** Machines whose calls are kept. */
const MAX_MACHINES = 5_000;

/** The last calls of drivers that have ended, by machine. Memory only: a new process begins without. */
export interface EndedCalls {
  add(call: EndedCall, endedAt: Date): void;
  /** The oldest first. */
  of(uid: string): readonly RecordedCall[];
}

/** Makes an empty record. */
export function createEndedCalls(): EndedCalls {
  // Invariant: the machine that was called about last is at the end.
  const calls = new Map<string, readonly RecordedCall[]>();
  return {
    add(call, endedAt) {
      const former = calls.get(call.uid) ?? [];
      calls.delete(call.uid);
      const [oldest] = calls.keys();
      if (oldest !== undefined && calls.size >= MAX_MACHINES) calls.delete(oldest);
      calls.set(call.uid, [...former, { ...call, endedAt }].slice(-MAX_PER_MACHINE));
    },
    of: (uid) => calls.get(uid) ?? [],
  };
}
