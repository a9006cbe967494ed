import type { Clock } from "@millwright/base";
import { MachineError } from "@millwright/core";
import { createLaunchThrottle, type LaunchLimits, type LaunchOutcome } from "../creation/launch-throttle.ts";
import {
  type CircuitEvents,
  type CircuitOutcome,
  createCircuitBreaker,
  type Credential,
  type HeldBack,
  type OpenCircuit,
} from "./circuit-breaker.ts";
import type { CallOutcome } from "../../model/driver-port.ts";
import {
  isPending,
  isRejected,
  type LaunchRequest,
  type OperationKind,
  type OperationResult,
  type OperationView,
} from "../../model/operation.ts";
import { jitterOf } from "../../model/retry.ts";
import { fixed, type Live } from "../../model/live.ts";
import { defaultMachineSettings, type MachineSettings } from "../../model/machine-settings.ts";

/** A driver call to start. */
export interface OperationStart {
  readonly kind: OperationKind;
  /** Version of the inputs of the call; see `MachineSnapshot.inputs`. */
  readonly inputs: string;
  readonly run: (signal: AbortSignal) => Promise<CallOutcome>;
  /** Called once when the call has ended, and while it is throttled when the reason has changed. */
  readonly enqueue: () => void;
  /** With what the driver calls its cloud: calls with a credential that is refused are held back. Absent: they never are. */
  readonly credential?: Credential & { readonly machineClass: string };
  /** The launch group in which the call is throttled. Absent: it starts at once. */
  readonly launch?: LaunchRequest;
  /** Called after the machine was deleted, unless the call was rejected: with a success, or with nothing where a VM may exist that no answer named. It would be orphaned. */
  readonly undo?: (result: OperationResult, signal: AbortSignal) => Promise<void>;
}

/** Driver calls in flight, and outcomes that are not recorded yet: at most one per machine. */
export interface Operations {
  get(uid: string): OperationView | undefined;
  /** Starts a call. No-op while another call of that machine is throttled or runs, and after `close`. */
  start(uid: string, operation: OperationStart): void;
  /** The result of a success cannot be used: it becomes a failure, with the backoff of one, and the machine is enqueued. */
  fail(uid: string, error: MachineError): void;
  /** An outcome is stored in the objects: a success is dropped, a failure is kept for its backoff. No-op when it is no longer the latest. */
  acknowledge(uid: string, outcome: OperationView | undefined): void;
  /** Cancels a throttled call, and drops a pending one; a running call continues. */
  cancel(uid: string): void;
  /** The machine is deleted. A running call is aborted. */
  forget(uid: string): void;
  /** Credentials whose calls are held back. */
  openCircuits(): readonly OpenCircuit[];
  /** Starts creations that changed limits allow. */
  limitsChanged(): void;
  /** The state of each operation that is not done, for metrics. */
  unfinished(): Iterable<Pick<OperationView, "kind" | "state">>;
  /** Aborts all calls and resolves when every one has ended. */
  close(): Promise<void>;
}

/** The limits of the settings: concurrent creations per class, and over all classes. */
export const launchLimitsOf = (settings: MachineSettings): LaunchLimits => ({
  perGroup: settings.maxConcurrentCreationsPerClass,
  inAll: settings.maxConcurrentCreations,
  exhaustedRetryMs: settings.resourceExhaustedRetryMs,
});

/** Failures are values, but a bug may throw: the call must end nevertheless. */
async function outcomeOf(call: OperationStart["run"], signal: AbortSignal): Promise<CallOutcome> {
  try {
    return await call(signal);
  } catch (cause) {
    return { ok: false, error: new MachineError("Internal", "the call failed without an outcome", { cause }) };
  }
}

interface Entry {
  view: OperationView;
  /** The circuit by which the call was held back; it was not made. */
  heldBy?: string;
  readonly operation: Pick<OperationStart, "kind" | "inputs" | "enqueue" | "undo">;
  readonly group?: string;
  readonly abort: AbortController;
}

/** What the outcome of a call means for its class. An aborted call means nothing. */
function launchOutcomeOf(outcome: CallOutcome, signal: AbortSignal): LaunchOutcome {
  if (outcome.ok) return { kind: isPending(outcome.value) ? "accepted" : "success" };
  if (signal.aborted) return { kind: "ended" };
  const { code, message, retryAfterMs } = outcome.error;
  return { kind: "failure", backoff: { code, message }, retryAfterMs };
}

function circuitOutcomeOf(outcome: CallOutcome, signal: AbortSignal): CircuitOutcome {
  if (signal.aborted) return "inconclusive";
  if (outcome.ok) return {};
  return outcome.isOutsideDriver === true ? "inconclusive" : { error: outcome.error };
}

/** A smaller jump of the wall clock does not matter, milliseconds. */
const JUMP_MS = 1_000;

/** A view with its times moved by a jump of the wall clock, so that what waits for them waits as long as before. */
const shifted = (view: OperationView, byMs: number): OperationView => {
  if (view.state === "failed" || view.state === "done") return { ...view, endedAt: view.endedAt + byMs };
  if (view.state === "pending") return { ...view, checkAt: view.checkAt + byMs };
  return { ...view, since: view.since + byMs };
};

const credentialKey = ({ driver, secret }: Credential): string => `${driver}/${secret}`;

/** Which calls are released first: a VM that is not deleted costs money. */
const releaseOrder: Readonly<Record<OperationKind, number>> = { delete: 0, find: 1, initialize: 2, create: 3 };

const isOpen = (entry: Entry | undefined): boolean =>
  entry?.view.state === "running" || entry?.view.state === "waiting";

/**
 * Runs driver calls outside of the queue: a call may take minutes and must not block a worker. The state is kept in memory only: after a restart
 * `getMachineStatus` finds the VM of each machine.
 */
export function createOperations(
  clock: Clock,
  limits: Live<LaunchLimits> = fixed(launchLimitsOf(defaultMachineSettings)),
  onCircuit: Pick<CircuitEvents, "opened" | "closed"> = { opened: () => undefined, closed: () => undefined },
): Operations {
  /** By UID of the machine. An entry is replaced only when its call has ended. */
  const entries = new Map<string, Entry>();
  /** Consecutive failures of one kind of call, by UID. */
  const failures = new Map<string, { readonly kind: OperationKind; readonly count: number; readonly since: number }>();
  const running = new Set<Promise<void>>();
  const throttle = createLaunchThrottle(clock, limits);
  /** Makes calls that a circuit held back, deletions first. */
  const release = (key: string, count: number): number => {
    const held = [...entries]
      .filter(([, { heldBy }]) => heldBy === key)
      .toSorted(([, a], [, b]) => releaseOrder[a.operation.kind] - releaseOrder[b.operation.kind]);
    for (const [uid, entry] of held.slice(0, count)) {
      entries.delete(uid);
      entry.operation.enqueue();
    }
    return Math.max(0, held.length - count);
  };
  const circuits = createCircuitBreaker(clock, { ...onCircuit, release });
  const closing = new AbortController();

  const offsetMs = (): number => clock.now().getTime() - clock.monotonicMs();
  /** The offset that the times of all views have. */
  let viewsOffsetMs = offsetMs();
  const followClock = (): void => {
    const byMs = offsetMs() - viewsOffsetMs;
    if (Math.abs(byMs) < JUMP_MS) return;
    viewsOffsetMs += byMs;
    for (const entry of entries.values()) entry.view = shifted(entry.view, byMs);
  };

  /** `isHeld`: the call was not made, and is no failure of the machine's own. */
  const failedView = (
    uid: string,
    { kind, inputs }: Pick<OperationStart, "kind" | "inputs">,
    error: MachineError,
    isHeld = false,
  ): OperationView => {
    followClock();
    const before = failures.get(uid);
    const endedAt = clock.now().getTime();
    const { count: earlier, since } = before?.kind === kind ? before : { count: 0, since: endedAt };
    const count = isHeld ? Math.max(1, earlier) : earlier + 1;
    if (!isHeld) failures.set(uid, { kind, count, since });
    return {
      kind,
      state: "failed",
      code: error.code,
      message: error.message,
      retryAfterMs: error.retryAfterMs,
      lastKnownState: error.lastKnownState,
      ...(isHeld ? { isHeldBack: true } : {}),
      ...(error.tokenIsSpent === true ? { isTokenSpent: true } : {}),
      endedAt,
      inputs,
      firstFailedAt: since,
      failures: count,
      jitter: jitterOf(`${uid}/${count}`),
      isAcknowledged: false,
    };
  };

  const viewOf = (uid: string, operation: OperationStart, outcome: CallOutcome): OperationView => {
    if (!outcome.ok) return failedView(uid, operation, outcome.error);
    const { kind, inputs } = operation;
    const result = outcome.value;
    followClock();
    if (!isPending(result)) return { kind, state: "done", result, endedAt: clock.now().getTime(), inputs };
    const { message, checkAfterMs } = result.pending;
    return { kind, state: "pending", message, checkAt: clock.now().getTime() + checkAfterMs };
  };

  /**
   * The machine is deleted, and the VM that was requested for it is not stored on it. A call that was aborted, or got no answer, may have created one nevertheless.
   */
  const undo = async (view: OperationView, operation: Pick<OperationStart, "undo">): Promise<void> => {
    const wasMade =
      view.state === "pending" || (view.state === "failed" && !isRejected(view) && view.isHeldBack !== true);
    if (view.state === "done") await operation.undo?.(view.result, closing.signal);
    else if (wasMade) await operation.undo?.({}, closing.signal);
  };

  const holdBack = async (uid: string, entry: Entry, operation: OperationStart, held: HeldBack): Promise<void> => {
    // In a later turn: the throttle starts many calls in one.
    await Promise.resolve();
    throttle.leave(uid, { kind: "ended" });
    if (entries.get(uid) !== entry) return;
    entry.view = failedView(uid, operation, held.error, true);
    entry.heldBy = held.key;
    operation.enqueue();
  };

  const run = async (uid: string, entry: Entry, operation: OperationStart): Promise<void> => {
    const { kind, inputs, credential } = operation;
    const call = credential === undefined ? undefined : { ...credential, uid, kind, inputs };
    const held = call === undefined ? undefined : circuits.enter(call);
    if (held !== undefined) return holdBack(uid, entry, operation, held);
    const outcome = await outcomeOf(operation.run, entry.abort.signal);
    if (call !== undefined) circuits.leave(call, circuitOutcomeOf(outcome, entry.abort.signal));
    // The machine is deleted: no reconcile reads the outcome.
    const isWanted = entries.get(uid) === entry;
    if (isWanted && outcome.ok && isPending(outcome.value)) failures.delete(uid);
    const view = viewOf(uid, operation, outcome);
    if (isWanted) entry.view = view;
    else failures.delete(uid);
    throttle.leave(uid, launchOutcomeOf(outcome, entry.abort.signal));
    if (isWanted) operation.enqueue();
    else await undo(view, operation);
  };

  const track = (work: Promise<void>): void => {
    const promise = work.finally(() => running.delete(promise));
    running.add(promise);
  };

  const begin = (uid: string, entry: Entry, operation: OperationStart): void => {
    followClock();
    entry.view = { kind: operation.kind, state: "running", since: clock.now().getTime() };
    track(run(uid, entry, operation));
  };

  return {
    openCircuits: () => circuits.open(),
    limitsChanged: throttle.limitsChanged,
    unfinished: () => Array.from(entries.values(), ({ view }) => view).filter(({ state }) => state !== "done"),
    get(uid) {
      followClock();
      const entry = entries.get(uid);
      if (entry?.view.state !== "waiting" || entry.group === undefined) return entry?.view;
      const classBackoff = throttle.classBackoffOf(entry.group);
      return classBackoff === undefined ? entry.view : { ...entry.view, classBackoff };
    },
    start(uid, operation) {
      const { kind, inputs, launch } = operation;
      const before = entries.get(uid);
      if (closing.signal.aborted || isOpen(before)) return;
      if (before?.view.state === "done") failures.delete(uid);
      followClock();
      const abort = new AbortController();
      const since = clock.now().getTime();
      const entry: Entry = {
        view: { kind, state: "waiting", inputs, since, ...(isRejected(before?.view) ? { isUnasked: true } : {}) },
        operation,
        abort,
        ...(launch === undefined ? {} : { group: launch.name }),
      };
      entries.set(uid, entry);
      if (launch === undefined) {
        // A pending creation is superseded.
        throttle.cancel(uid);
        return begin(uid, entry, operation);
      }
      const { name, ...request } = launch;
      throttle.enter({
        uid,
        group: name,
        inputs,
        credential: operation.credential === undefined ? "" : credentialKey(operation.credential),
        ...request,
        begin: () => begin(uid, entry, operation),
        changed: operation.enqueue,
      });
      // A throttled machine needs a reconcile that reports it: the class may have been backed off before.
      if (entry.view.state === "waiting") operation.enqueue();
    },
    acknowledge(uid, outcome) {
      const entry = entries.get(uid);
      if (entry === undefined || entry.view !== outcome || isOpen(entry) || entry.view.state === "pending") return;
      if (entry.view.state === "failed") entry.view = { ...entry.view, isAcknowledged: true };
      else {
        entries.delete(uid);
        failures.delete(uid);
      }
    },
    fail(uid, error) {
      const entry = entries.get(uid);
      if (entry?.view.state !== "done") return;
      entry.view = failedView(uid, entry.operation, error);
      entry.operation.enqueue();
    },
    cancel(uid) {
      const state = entries.get(uid)?.view.state;
      if (state !== "waiting" && state !== "pending") return;
      throttle.cancel(uid);
      entries.delete(uid);
    },
    forget(uid) {
      throttle.cancel(uid);
      const entry = entries.get(uid);
      entry?.abort.abort(new Error("the machine is deleted"));
      if (entry !== undefined) track(undo(entry.view, entry.operation));
      entries.delete(uid);
      failures.delete(uid);
    },
    async close() {
      closing.abort(new Error("the controller is stopping"));
      throttle.close();
      for (const { abort } of entries.values()) abort.abort(new Error("the controller is stopping"));
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
