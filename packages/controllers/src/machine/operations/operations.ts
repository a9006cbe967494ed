import { type Clock, MachineError } from "@millwright/core";
import { createLaunchThrottle, type LaunchLimits, type LaunchOutcome } from "../creation/launch-throttle.ts";
import { type LaunchRequest } from "../../model/operation.ts";
import type { DriverOutcome } from "../../model/driver-port.ts";
import {
  isPending,
  type OperationKind,
  type OperationResult,
  type OperationView,
  type PendingOperation,
} from "../../model/operation.ts";
import { DEFAULT_EXHAUSTED_RETRY_MS, jitterOf } from "../../model/retry.ts";

/** A driver call to start. */
export interface OperationStart {
  readonly kind: OperationKind;
  /** Version of what the call is made from; see `MachineSnapshot.inputs`. */
  readonly inputs: string;
  readonly run: (signal: AbortSignal) => Promise<DriverOutcome<OperationResult | PendingOperation>>;
  /** Called once when the call has ended, and while it waits when what it waits for has changed. */
  readonly enqueue: () => void;
  /** The lane in which the call waits for its turn. Absent: it begins at once. */
  readonly launch?: LaunchRequest;
  /** Called with a success, or an acceptance, that comes when the machine is deleted: no one else knows of it. */
  readonly undo?: (result: OperationResult, signal: AbortSignal) => Promise<void>;
}

/** Driver calls under way, and the outcomes that no pass has dealt with: at most one per machine. */
export interface Operations {
  get(uid: string): OperationView | undefined;
  /** Starts a call. Does nothing while another call of that machine waits or runs, and after `close`. */
  start(uid: string, operation: OperationStart): void;
  /** The outcome is in the objects: a success is dropped, a failure kept for the delay of its next attempt. */
  acknowledge(uid: string): void;
  /** Takes a call back that waits, and forgets one that is pending; one that runs goes on. */
  cancel(uid: string): void;
  /** The machine is gone. A call that still runs is aborted. */
  forget(uid: string): void;
  /** Aborts all calls and resolves when every one has ended. */
  close(): Promise<void>;
}

/** One class may have so many calls at a time, and all together so many. */
export const defaultLaunchLimits: LaunchLimits = {
  perGroup: 20,
  inAll: 100,
  exhaustedRetryMs: DEFAULT_EXHAUSTED_RETRY_MS,
};

/** Failures are values, but a bug may throw: a machine must not wait for ever for a call that is over. */
async function outcomeOf(call: OperationStart["run"], signal: AbortSignal): ReturnType<OperationStart["run"]> {
  try {
    return await call(signal);
  } catch (cause) {
    return { ok: false, error: new MachineError("Internal", "the call failed without an outcome", { cause }) };
  }
}

interface Entry {
  view: OperationView;
  readonly group?: string;
  readonly abort: AbortController;
}

/** What the end of a call says about its class. Who stopped it from outside proves nothing. */
function launchOutcomeOf(
  outcome: DriverOutcome<OperationResult | PendingOperation>,
  signal: AbortSignal,
): LaunchOutcome {
  if (outcome.ok) return { kind: isPending(outcome.value) ? "accepted" : "success" };
  if (signal.aborted) return { kind: "ended" };
  const { code, message, retryAfterMs } = outcome.error;
  return { kind: "failure", backoff: { code, message }, retryAfterMs };
}

const isOpen = (entry: Entry | undefined): boolean =>
  entry?.view.state === "running" || entry?.view.state === "waiting";

/**
 * Keeps driver calls out of the queue: a call may take minutes, a worker must not. What is here is a convenience, not the truth: after a restart the
 * machine is asked for by `getMachineStatus` and everything goes on.
 */
export function createOperations(clock: Clock, limits: LaunchLimits = defaultLaunchLimits): Operations {
  /** By UID of the machine. An entry is replaced only when its call has ended. */
  const entries = new Map<string, Entry>();
  /** Failures in a row of one kind of call, by UID. */
  const failures = new Map<string, { readonly kind: OperationKind; readonly count: number }>();
  const running = new Set<Promise<void>>();
  const throttle = createLaunchThrottle(clock, limits);
  const closing = new AbortController();

  const failedView = (uid: string, { kind, inputs }: OperationStart, error: MachineError): OperationView => {
    const before = failures.get(uid);
    const count = (before?.kind === kind ? before.count : 0) + 1;
    failures.set(uid, { kind, count });
    return {
      kind,
      state: "failed",
      code: error.code,
      message: error.message,
      retryAfterMs: error.retryAfterMs,
      lastKnownState: error.lastKnownState,
      ...(error.tokenIsSpent === true ? { isTokenSpent: true } : {}),
      endedAt: clock.now().getTime(),
      inputs,
      failures: count,
      jitter: jitterOf(`${uid}/${count}`),
      isAcknowledged: false,
    };
  };

  const succeededView = (kind: OperationKind, result: OperationResult | PendingOperation): OperationView => {
    if (!isPending(result)) return { kind, state: "done", result };
    const { message, checkAfterMs } = result.pending;
    return { kind, state: "pending", message, checkAt: clock.now().getTime() + checkAfterMs };
  };

  const run = async (uid: string, entry: Entry, operation: OperationStart): Promise<void> => {
    const outcome = await outcomeOf(operation.run, entry.abort.signal);
    // A machine that is gone has nobody to take the answer.
    const isWanted = entries.get(uid) === entry;
    if (isWanted && outcome.ok) {
      failures.delete(uid);
      entry.view = succeededView(operation.kind, outcome.value);
    } else if (isWanted && !outcome.ok) entry.view = failedView(uid, operation, outcome.error);
    throttle.leave(uid, launchOutcomeOf(outcome, entry.abort.signal));
    if (isWanted) operation.enqueue();
    else if (outcome.ok) await operation.undo?.(isPending(outcome.value) ? {} : outcome.value, closing.signal);
  };

  const begin = (uid: string, entry: Entry, operation: OperationStart): void => {
    entry.view = { kind: operation.kind, state: "running" };
    const promise = run(uid, entry, operation).finally(() => running.delete(promise));
    running.add(promise);
  };

  return {
    get(uid) {
      const entry = entries.get(uid);
      if (entry?.view.state !== "waiting" || entry.group === undefined) return entry?.view;
      const classBackoff = throttle.classBackoffOf(entry.group);
      return classBackoff === undefined ? entry.view : { ...entry.view, classBackoff };
    },
    start(uid, operation) {
      const { kind, inputs, launch } = operation;
      if (closing.signal.aborted || isOpen(entries.get(uid))) return;
      const abort = new AbortController();
      const since = clock.now().getTime();
      const entry: Entry = {
        view: { kind, state: "waiting", inputs, since },
        abort,
        ...(launch === undefined ? {} : { group: launch.name }),
      };
      entries.set(uid, entry);
      if (launch === undefined) {
        // A creation that was pending is not waited for any more.
        throttle.cancel(uid);
        return begin(uid, entry, operation);
      }
      const { name, ...request } = launch;
      throttle.enter({
        uid,
        group: name,
        inputs,
        ...request,
        begin: () => begin(uid, entry, operation),
        changed: operation.enqueue,
      });
      // Nothing else may bring a pass for a machine that has to wait, in which it says so: its class may have been in trouble before it came.
      if (entry.view.state === "waiting") operation.enqueue();
    },
    acknowledge(uid) {
      const entry = entries.get(uid);
      if (entry === undefined || isOpen(entry) || entry.view.state === "pending") return;
      if (entry.view.state === "failed") entry.view = { ...entry.view, isAcknowledged: true };
      else entries.delete(uid);
    },
    cancel(uid) {
      const state = entries.get(uid)?.view.state;
      if (state !== "waiting" && state !== "pending") return;
      throttle.cancel(uid);
      entries.delete(uid);
    },
    forget(uid) {
      throttle.cancel(uid);
      entries.get(uid)?.abort.abort(new Error("the machine is gone"));
      entries.delete(uid);
      failures.delete(uid);
    },
    async close() {
      closing.abort(new Error("the controller stops"));
      throttle.close();
      for (const { abort } of entries.values()) abort.abort(new Error("the controller stops"));
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
