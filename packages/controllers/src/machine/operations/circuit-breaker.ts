import { apiTime } from "@millwright/kube";
import type { Clock } from "@millwright/base";
import { MachineError, type MachineErrorCode } from "@millwright/core";
import { retryClassOf } from "@millwright/core/driver-host";
import type { OperationKind } from "../../model/operation.ts";
import { jitterOf } from "../../model/retry.ts";

/** The credential of a class: its driver, and the Secret with which the driver calls its cloud. */
export interface Credential {
  readonly driver: string;
  /** Name of the Secret. */
  readonly secret: string;
}

/** A driver call that may be held back. */
export interface CircuitCall extends Credential {
  readonly uid: string;
  readonly machineClass: string;
  readonly kind: OperationKind;
  /** Version of class and secrets; a new one closes the circuits of the class. */
  readonly inputs: string;
}

/** How a call ended: with an error, with none, or so that it shows nothing: aborted by us, or failed outside of the driver. */
export type CircuitOutcome = { readonly error?: MachineError } | "inconclusive";

/** A circuit that is not closed. */
export interface OpenCircuit extends Credential {
  /** Only calls of this class are held back. Absent: those of all classes with the credential. */
  readonly machineClass?: string;
  readonly code: MachineErrorCode;
  /** Of the failure that opened the circuit. */
  readonly message: string;
  /** Wall clock, milliseconds. */
  readonly since: number;
}

/** What circuits report. */
export interface CircuitEvents {
  /** Calls are held back from now on. */
  opened(circuit: OpenCircuit): void;
  /** A call has succeeded, or class or Secret changed. */
  closed(circuit: OpenCircuit): void;
  /** So many of the calls that {@link CircuitBreaker.enter} held back by this key should be made now. Returns how many are still held back. */
  release(key: string, count: number): number;
}

/** A call that is not made. */
export interface HeldBack {
  /** Of the circuit. */
  readonly key: string;
  /** Code of the failure that opened the circuit, with the time after which the call may be tried again. */
  readonly error: MachineError;
}

/** Keeps calls from a cloud that refuses a credential, or all requests with it. */
export interface CircuitBreaker {
  /** Whether the call may be made; `undefined`: yes, and {@link CircuitBreaker.leave} must follow. */
  enter(call: CircuitCall): HeldBack | undefined;
  /** The call has ended. */
  leave(call: CircuitCall, outcome: CircuitOutcome): void;
  /** Circuits that hold calls back. */
  open(): readonly OpenCircuit[];
}

/** So many failures in a row, of different machines, concern the credential. A cloud that is only flaky fails fewer in a row, and each machine retries within seconds. */
const MACHINES_IN_A_ROW = { refused: 5, unavailable: 20 };

const isPlainOutage = ({ code, retryAfterMs }: MachineError): boolean =>
  code === "Unavailable" && retryAfterMs === undefined;

/** After a success so many calls are made at once; twice as many after each further one, until the circuit is forgotten. */
const RECOVERING_CALLS = { first: 2, most: 64 };

/** Calls that are held back while a probe runs are retried after this time at the latest, milliseconds. */
const PROBE_CHECK_MS = 15_000;

/** Creations are tried this much later than calls about existing VMs, which so are the first to probe, milliseconds. */
const AFTER_DELETIONS_MS = 1_000;

/** Between probes, milliseconds: doubles with each failed one. */
const probeBackoff = (code: MachineErrorCode): { readonly firstMs: number; readonly longestMs: number } =>
  retryClassOf(code) === "transient" ? { firstMs: 5_000, longestMs: 60_000 } : { firstMs: 15_000, longestMs: 300_000 };

/** What a failure concerns: all calls with the credential, those of one class, or neither. */
function scopeOf({ code, retryAfterMs }: MachineError): "credential" | "class" | undefined {
  if (code === "Unauthenticated" || code === "Unavailable") return "credential";
  // Without a time it is a quota, or the capacity of a zone.
  if (code === "ResourceExhausted" && retryAfterMs !== undefined) return "credential";
  return code === "PermissionDenied" ? "class" : undefined;
}

/** Failures that show nothing about the credential: the cloud may not have been asked. */
const unclear: ReadonlySet<MachineErrorCode> = new Set([
  "Aborted",
  "Canceled",
  "DeadlineExceeded",
  "Internal",
  "InvalidArgument",
  "Unimplemented",
  "Unknown",
]);

type Scope = "credential" | "class";

interface Circuit extends Credential {
  readonly key: string;
  readonly machineClass?: string;
  /** Machines whose calls failed since the last success. */
  readonly failing: Set<string>;
  /** Versions of the classes whose calls failed. */
  readonly versions: Map<string, string>;
  /** Absent: closed. */
  fault?: { code: MachineErrorCode; message: string; readonly since: number };
  failedProbes: number;
  /** Monotonic clock, milliseconds: no probe before. */
  notBefore: number;
  /** Machines whose calls run, since the circuit is open. */
  readonly running: Set<string>;
  /** Concurrent calls while the circuit is open or recovers. */
  limit: number;
}

/** The circuits that a call passes. What a class may do differs for creations and for other calls. */
function keysOf({ driver, secret, machineClass, kind }: CircuitCall): Readonly<Record<Scope, string>> {
  const ofClass = [driver, secret, machineClass, kind === "create" ? "create" : "other"];
  return { credential: `${driver}/${secret}`, class: ofClass.join("/") };
}

const viewOf = ({ driver, secret, machineClass, fault }: Circuit): OpenCircuit | undefined =>
  fault && { driver, secret, ...(machineClass === undefined ? {} : { machineClass }), ...fault };

function messageOf({ driver, secret, machineClass, code, message, since }: OpenCircuit): string {
  const state = retryClassOf(code) === "persistent" ? "is refused" : "gets no service";
  const where = machineClass === undefined ? "" : ` for MachineClass "${machineClass}"`;
  return `Waiting: Secret "${secret}" of driver "${driver}" ${state}${where} since ${apiTime(new Date(since))}: ${message}. One call at a time retries; a change of the Secret or class does so at once`;
}

const newCircuit = (key: string, scope: Scope, { driver, secret, machineClass }: CircuitCall): Circuit => ({
  key,
  driver,
  secret,
  ...(scope === "class" ? { machineClass } : {}),
  failing: new Set(),
  versions: new Map(),
  failedProbes: 0,
  notBefore: 0,
  running: new Set(),
  limit: 1,
});

/** A probe has failed: the next one follows later. */
function backOff(circuit: Circuit, code: MachineErrorCode, nowMs: number, retryAfterMs = 0): void {
  circuit.failedProbes++;
  circuit.limit = 1;
  const { firstMs, longestMs } = probeBackoff(code);
  const delayMs = Math.min(longestMs, firstMs * 2 ** Math.min(30, circuit.failedProbes - 1));
  const spread = 1 - 0.2 * jitterOf(`${circuit.key}/${circuit.failedProbes}`);
  circuit.notBefore = nowMs + Math.max(delayMs * spread, Math.min(retryAfterMs, 2 * longestMs));
}

/** Why a call is not made now; `undefined`: it is made. */
function holdBack(circuit: Circuit, { kind }: CircuitCall, nowMs: number): HeldBack | undefined {
  const view = viewOf(circuit);
  if (view === undefined) return undefined;
  const leftMs = circuit.notBefore - nowMs;
  if (leftMs <= 0 && circuit.running.size < circuit.limit) return undefined;
  const retryAfterMs = (leftMs > 0 ? leftMs : PROBE_CHECK_MS) + (kind === "create" ? AFTER_DELETIONS_MS : 0);
  return { key: circuit.key, error: new MachineError(view.code, messageOf(view), { retryAfterMs }) };
}

/**
 * A circuit breaker for each credential. After failures of different machines in a row it lets one call at a time through, with a growing backoff, and holds the others back without sending them. A
 * success lets two others follow, then four, and so on. Missing permissions concern one class: another class with the same credential may have them. The state is kept in memory only.
 */
export function createCircuitBreaker(clock: Clock, events: CircuitEvents): CircuitBreaker {
  const circuits = new Map<string, Circuit>();
  const nowMs = (): number => clock.monotonicMs();

  const close = (circuit: Circuit): void => {
    circuits.delete(circuit.key);
    const view = viewOf(circuit);
    if (view === undefined) return;
    events.closed(view);
    events.release(circuit.key, Number.POSITIVE_INFINITY);
  };

  const circuitFor = (scope: Scope, call: CircuitCall): Circuit => {
    const key = keysOf(call)[scope];
    const circuit = circuits.get(key) ?? newCircuit(key, scope, call);
    circuits.set(key, circuit);
    return circuit;
  };

  const fail = (circuit: Circuit, { uid, machineClass, inputs }: CircuitCall, error: MachineError): void => {
    const { code, message, retryAfterMs } = error;
    circuit.versions.set(machineClass, inputs);
    if (circuit.fault !== undefined) {
      // Of calls that began before the circuit opened nothing new is learned.
      if (circuit.running.has(uid)) backOff(circuit, code, nowMs(), retryAfterMs);
      return;
    }
    circuit.failing.add(uid);
    if (circuit.failing.size < MACHINES_IN_A_ROW[isPlainOutage(error) ? "unavailable" : "refused"]) return;
    circuit.fault = { code, message, since: clock.now().getTime() };
    backOff(circuit, code, nowMs(), retryAfterMs);
    const view = viewOf(circuit);
    if (view !== undefined) events.opened(view);
  };

  const succeed = (circuit: Circuit, uid: string): void => {
    if (circuit.fault === undefined) return void circuits.delete(circuit.key);
    if (!circuit.running.has(uid)) return;
    circuit.failedProbes = 0;
    circuit.notBefore = 0;
    circuit.limit = circuit.limit === 1 ? RECOVERING_CALLS.first : circuit.limit * 2;
    if (circuit.limit > RECOVERING_CALLS.most) return close(circuit);
    if (events.release(circuit.key, circuit.limit - circuit.running.size + 1) === 0) close(circuit);
  };

  /** What the end of a call means for one of its circuits. */
  const judge = (scope: Scope, circuit: Circuit | undefined, call: CircuitCall, outcome: CircuitOutcome): void => {
    const error = outcome === "inconclusive" ? undefined : outcome.error;
    const concerned = error === undefined ? undefined : scopeOf(error);
    if (outcome === "inconclusive") {
      // The next call probes.
    } else if (error !== undefined && concerned === scope) fail(circuitFor(scope, call), call, error);
    else if (circuit === undefined || (scope === "class" && concerned === "credential")) {
      // Nothing is learned about it.
    } else if (error === undefined || !unclear.has(error.code)) succeed(circuit, call.uid);
    else if (error.code === "DeadlineExceeded" && circuit.running.has(call.uid)) backOff(circuit, error.code, nowMs());
    circuits.get(keysOf(call)[scope])?.running.delete(call.uid);
  };

  return {
    enter(call) {
      const found = Object.values(keysOf(call)).flatMap((key) => circuits.get(key) ?? []);
      const passed: Circuit[] = [];
      for (const circuit of found) {
        const version = circuit.versions.get(call.machineClass);
        if (version !== undefined && version !== call.inputs) {
          close(circuit);
          continue;
        }
        const held = holdBack(circuit, call, nowMs());
        if (held !== undefined) return held;
        passed.push(circuit);
      }
      for (const circuit of passed) if (circuit.fault !== undefined) circuit.running.add(call.uid);
      return undefined;
    },
    leave(call, outcome) {
      const keys = keysOf(call);
      judge("credential", circuits.get(keys.credential), call, outcome);
      judge("class", circuits.get(keys.class), call, outcome);
    },
    open: () => [...circuits.values()].flatMap((circuit) => viewOf(circuit) ?? []),
  };
}
