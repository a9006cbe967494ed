import { type Clock, MachineError } from "@millwright/core";
import type { DriverOutcome } from "./driver-port.ts";
import type { OperationKind, OperationResult, OperationView } from "./operation.ts";

/** A driver call to start. */
export interface OperationStart {
  readonly kind: OperationKind;
  /** Version of what the call is made from; see `MachineSnapshot.inputs`. */
  readonly inputs: string;
  readonly run: (signal: AbortSignal) => Promise<DriverOutcome<OperationResult>>;
  /** Called once when the call has ended. */
  readonly wake: () => void;
}

/** Driver calls under way, and the outcomes that no pass has dealt with: at most one per machine. */
export interface Operations {
  get(uid: string): OperationView | undefined;
  /** Starts a call. Does nothing while another call of that machine runs, and after `close`. */
  start(uid: string, operation: OperationStart): void;
  /** The outcome is in the objects: a success is dropped, a failure kept for the delay of its next attempt. */
  acknowledge(uid: string): void;
  /** The machine is gone. A call that still runs is aborted. */
  forget(uid: string): void;
  /** Aborts all calls and resolves when every one has ended. */
  close(): Promise<void>;
}

/** Failures are values, but a bug may throw: a machine must not wait for ever for a call that is over. */
async function outcomeOf(call: OperationStart["run"], signal: AbortSignal): Promise<DriverOutcome<OperationResult>> {
  try {
    return await call(signal);
  } catch (cause) {
    return { ok: false, error: new MachineError("Internal", "the call failed without an outcome", { cause }) };
  }
}

interface Entry {
  view: OperationView;
  readonly abort: AbortController;
}

/**
 * Keeps driver calls out of the queue: a call may take minutes, a worker must not. What is here is a convenience, not the truth: after a restart the
 * machine is asked for by `getMachineStatus` and everything goes on.
 */
export function createOperations(clock: Clock): Operations {
  /** By UID of the machine. An entry is replaced only when its call has ended. */
  const entries = new Map<string, Entry>();
  const running = new Set<Promise<void>>();
  let isClosed = false;

  const run = async (uid: string, entry: Entry, { kind, inputs, run: call, wake }: OperationStart): Promise<void> => {
    const outcome = await outcomeOf(call, entry.abort.signal);
    entry.view = outcome.ok
      ? { kind, state: "done", result: outcome.value }
      : {
          kind,
          state: "failed",
          code: outcome.error.code,
          message: outcome.error.message,
          retryAfterMs: outcome.error.retryAfterMs,
          lastKnownState: outcome.error.lastKnownState,
          endedAt: clock.now().getTime(),
          inputs,
          isAcknowledged: false,
        };
    if (entries.get(uid) === entry) wake();
  };

  return {
    get: (uid) => entries.get(uid)?.view,
    start(uid, operation) {
      if (isClosed || entries.get(uid)?.view.state === "running") return;
      const entry: Entry = { view: { kind: operation.kind, state: "running" }, abort: new AbortController() };
      entries.set(uid, entry);
      const promise = run(uid, entry, operation).finally(() => running.delete(promise));
      running.add(promise);
    },
    acknowledge(uid) {
      const entry = entries.get(uid);
      if (entry === undefined || entry.view.state === "running") return;
      if (entry.view.state === "done") entries.delete(uid);
      else entry.view = { ...entry.view, isAcknowledged: true };
    },
    forget(uid) {
      entries.get(uid)?.abort.abort(new Error("the machine is gone"));
      entries.delete(uid);
    },
    async close() {
      isClosed = true;
      for (const { abort } of entries.values()) abort.abort(new Error("the controller stops"));
      await Promise.allSettled(running);
    },
  };
}
