import type { LaunchRequest, ClassBackoff } from "../../model/operation.ts";
import { type Clock, type MachineErrorCode, retryClassOf, type Timer } from "@millwright/core";
import { backoffMs, jitterOf } from "../../model/retry.ts";

/** How many machines may be made at once. */
export interface LaunchLimits {
  /** Of one lane. */
  readonly perLane: number;
  /** Of all together. */
  readonly inAll: number;
  /** Longest time between two tries of a class that is out of quota or capacity, milliseconds. */
  readonly exhaustedRetryMs: number;
}

/** A call that wants to begin. */
export interface LaunchEntry extends Omit<LaunchRequest, "name"> {
  readonly uid: string;
  /** See {@link LaunchRequest.name}. */
  readonly lane: string;
  /** Version of class and secrets; a new one is worth a try at once. */
  readonly inputs: string;
  /** Called once, when the call may begin. */
  readonly begin: () => void;
  /** Called while it waits, when what it waits for has changed. */
  readonly changed: () => void;
}

/** How a call ended. */
export type LaunchOutcome =
  | { readonly kind: "success" }
  | { readonly kind: "failure"; readonly trouble: ClassBackoff; readonly retryAfterMs?: number | undefined }
  /** The infrastructure has accepted the creation: the machine comes again to see how it ends, and others need not wait for that. */
  | { readonly kind: "accepted" }
  /** It says nothing about the class. */
  | { readonly kind: "ended" };

/** The order in which machines are made. */
export interface Lanes {
  /** Lets the call begin, now or later. At most one of a machine at a time. */
  enter(entry: LaunchEntry): void;
  /** The call has ended. */
  leave(uid: string, outcome: LaunchOutcome): void;
  /** The call is not wanted any more; nothing happens when one has begun, unless it only looks after an accepted creation. */
  cancel(uid: string): void;
  /** What is wrong with a lane, if anything. */
  classBackoffOf(lane: string): ClassBackoff | undefined;
  close(): void;
}

/** Codes that are about one machine and say nothing about the others. */
const ownCodes: ReadonlySet<MachineErrorCode> = new Set(["AlreadyExists", "OutOfRange", "NotFound", "Uninitialized"]);

/** So many failures in a row, without a success in between, are those of the class and not of a machine. */
const FAILURES_IN_A_ROW = { none: 3, persistent: 3, transient: 5, exhausted: 1 } as const;

/** So long after a new version came, what waits with another one does not begin: it is told, and comes again with the new one; milliseconds. */
const RETURN_WITHIN_MS = 5_000;

/** What is known of a lane that nobody has used for so long is forgotten, milliseconds. */
const FORGET_AFTER_MS = 3_600_000;

interface Lane {
  readonly name: string;
  /** How many calls may run at once: one while the class is in trouble, doubled by each success. */
  limit: number;
  /** In the order of their coming. */
  readonly waiting: Map<string, LaunchEntry>;
  /** UID and era of each call under way. */
  readonly running: Map<string, number>;
  /** UID and era of each creation that was accepted and has not ended. Disjoint from `waiting` and `running`: calls about it begin at once and take no place. */
  readonly accepted: Map<string, number>;
  /** Grows with each failure that counts: what began before it proves nothing about the time after. */
  era: number;
  failuresInARow: number;
  /** Failed tries since the trouble began. */
  setbacks: number;
  trouble: ClassBackoff | undefined;
  /** Monotonic clock, milliseconds: no call begins before. */
  notBefore: number;
  inputs: string;
  /** Monotonic clock, milliseconds: until then only calls made from `inputs` begin. */
  renewedUntil: number;
  /** Monotonic clock, milliseconds: when a call came last. */
  usedAt: number;
  timer: Timer | undefined;
}

/**
 * Keeps classes from each other's way: each has its own number of calls at a time, and takes turns with the others. A class that fails, whichever of
 * its machines tries, is tried by one machine at a time with growing pauses; the first success lets the others follow, two, four, and so on.
 * What is known here is a convenience: after a restart it is found out anew, by one machine that failed before.
 */
export function createLaunchThrottle(clock: Clock, limits: LaunchLimits): Lanes {
  /** In the order of their turns: a lane goes to the end when one of its calls begins. */
  const lanes = new Map<string, Lane>();
  const laneByUid = new Map<string, Lane>();
  let total = 0;
  let isClosed = false;
  const nowMs = (): number => clock.monotonicMs();

  const launchGroupOf = ({ lane: name, inputs, isRepeated }: LaunchEntry): Lane => {
    const known = lanes.get(name);
    if (known !== undefined) {
      known.usedAt = nowMs();
      return known;
    }
    const lane: Lane = {
      name,
      limit: isRepeated ? 1 : limits.perLane,
      waiting: new Map(),
      running: new Map(),
      accepted: new Map(),
      era: 0,
      failuresInARow: 0,
      setbacks: 0,
      trouble: undefined,
      notBefore: 0,
      inputs,
      renewedUntil: 0,
      usedAt: nowMs(),
      timer: undefined,
    };
    lanes.set(name, lane);
    return lane;
  };

  /** The first that waits and may begin now, as far as the version goes that it was made from. */
  const firstOf = ({ waiting, inputs, renewedUntil }: Lane): LaunchEntry | undefined => {
    const isRenewing = nowMs() < renewedUntil;
    for (const entry of waiting.values()) if (!isRenewing || entry.inputs === inputs) return entry;
    return undefined;
  };

  /** Accepted creations take no place, except after a failure of the class: until it is over, those that were accepted since are the attempts that others wait for. */
  const placesTaken = ({ running, accepted, trouble, limit, era }: Lane): number => {
    const isRecovering = trouble !== undefined || (era > 0 && limit < limits.perLane);
    const attempts = isRecovering ? [...accepted.values()].filter((since) => since === era).length : 0;
    return running.size + attempts;
  };

  const next = (): readonly [Lane, LaunchEntry] | undefined => {
    if (isClosed || total >= limits.inAll) return undefined;
    for (const lane of lanes.values()) {
      if (placesTaken(lane) >= lane.limit || lane.notBefore > nowMs()) continue;
      const entry = firstOf(lane);
      if (entry !== undefined) return [lane, entry];
    }
    return undefined;
  };

  /** Drops the lanes of which there is nothing to remember: classes come and go. */
  const tidy = (): void => {
    for (const { name, waiting, running, accepted, limit, failuresInARow, usedAt, notBefore } of lanes.values()) {
      if (waiting.size > 0 || running.size > 0 || accepted.size > 0) continue;
      const isPlain = limit === limits.perLane && failuresInARow === 0;
      if (isPlain || Math.max(usedAt, notBefore) + FORGET_AFTER_MS < nowMs()) lanes.delete(name);
    }
  };

  const pump = (): void => {
    for (let turn = next(); turn !== undefined; turn = next()) {
      const [lane, entry] = turn;
      lane.waiting.delete(entry.uid);
      lane.running.set(entry.uid, lane.era);
      total++;
      lanes.delete(lane.name);
      lanes.set(lane.name, lane);
      entry.begin();
    }
    for (const lane of lanes.values()) {
      lane.timer?.cancel();
      lane.timer = undefined;
      const leftMs = Math.max(lane.notBefore, firstOf(lane) === undefined ? lane.renewedUntil : 0) - nowMs();
      if (!isClosed && lane.waiting.size > 0 && leftMs > 0) lane.timer = clock.setTimer(leftMs, pump);
    }
  };

  const reset = (lane: Lane, inputs: string): void => {
    lane.inputs = inputs;
    lane.limit = limits.perLane;
    lane.trouble = undefined;
    lane.failuresInARow = 0;
    lane.setbacks = 0;
    lane.notBefore = 0;
    lane.era++;
    lane.renewedUntil = nowMs() + RETURN_WITHIN_MS;
    for (const entry of lane.waiting.values()) if (entry.inputs !== inputs) entry.changed();
  };

  const failed = (lane: Lane, { trouble, retryAfterMs }: Extract<LaunchOutcome, { kind: "failure" }>): void => {
    lane.failuresInARow++;
    const isTrouble =
      lane.trouble !== undefined || lane.failuresInARow >= FAILURES_IN_A_ROW[retryClassOf(trouble.code)];
    if (!isTrouble) return;
    lane.setbacks++;
    lane.era++;
    lane.limit = 1;
    const jitter = jitterOf(`${lane.name}/${lane.setbacks}`);
    const setback = { code: trouble.code, kind: "create", failures: lane.setbacks, jitter, retryAfterMs } as const;
    lane.notBefore = nowMs() + backoffMs(setback, limits.exhaustedRetryMs);
    const isNews = lane.trouble?.code !== trouble.code;
    // The words of the first failure stay as long as the code does: who waits need not write each variant down.
    if (!isNews) return;
    lane.trouble = trouble;
    for (const entry of lane.waiting.values()) entry.changed();
  };

  return {
    enter(entry) {
      if (isClosed) return;
      const known = laneByUid.get(entry.uid);
      if (known?.accepted.has(entry.uid) === true) return entry.begin();
      if (known !== undefined) return;
      tidy();
      const lane = launchGroupOf(entry);
      laneByUid.set(entry.uid, lane);
      if (lane.inputs !== entry.inputs) reset(lane, entry.inputs);
      if (entry.isAccepted === true) {
        lane.accepted.set(entry.uid, lane.era);
        return entry.begin();
      }
      lane.waiting.set(entry.uid, entry);
      pump();
    },
    leave(uid, outcome) {
      const lane = laneByUid.get(uid);
      const era = lane?.running.get(uid) ?? lane?.accepted.get(uid);
      if (lane === undefined || era === undefined) return;
      if (lane.running.delete(uid)) total--;
      if (outcome.kind === "accepted") {
        lane.accepted.set(uid, era);
        return pump();
      }
      lane.accepted.delete(uid);
      laneByUid.delete(uid);
      const isCurrent = era === lane.era;
      if (isCurrent && outcome.kind === "failure" && !ownCodes.has(outcome.trouble.code)) failed(lane, outcome);
      if (isCurrent && outcome.kind === "success") {
        lane.trouble = undefined;
        lane.failuresInARow = 0;
        lane.setbacks = 0;
        lane.limit = Math.min(limits.perLane, lane.limit * 2);
      }
      pump();
      tidy();
    },
    cancel(uid) {
      const lane = laneByUid.get(uid);
      if (lane === undefined || !(lane.waiting.delete(uid) || lane.accepted.delete(uid))) return;
      laneByUid.delete(uid);
      pump();
      tidy();
    },
    classBackoffOf: (lane) => lanes.get(lane)?.trouble,
    close() {
      isClosed = true;
      for (const { timer } of lanes.values()) timer?.cancel();
    },
  };
}
