import type { MachineIdentity } from "@millwright/core";
import { type CheckContext, outcomeOf } from "./check.ts";

/** A signal that is aborted after a time. */
export function abortAfter({ session: { clock } }: CheckContext, afterMs: number): AbortSignal {
  const controller = new AbortController();
  clock.setTimer(afterMs, () => controller.abort(new Error("the process stops")));
  return controller.signal;
}

/** Starts a creation and aborts it. */
export async function createMachineAborted(t: CheckContext, machine: MachineIdentity, afterMs: number): Promise<void> {
  await outcomeOf(t.caller.create(machine, { signal: abortAfter(t, afterMs) }));
}
