import type { LaunchRequest, ClassBackoff } from "../../model/operation.ts";
import { type Clock, type MachineErrorCode, retryClassOf, type Timer } from "@millwright/core";
import { backoffMs, jitterOf } from "../../model/retry.ts";

/** How many machines may be made at once. */
export interface LaunchLimits {
  /** Of one lane. */
  readonly perGroup: number;
  /** Of all together. */
  readonly inAll: number;
  /** Longest time between two tries of a class that is out of quota or capacity, milliseconds. */
  readonly exhaustedRetryMs: number;
}

/** A call that wants to begin. */
export interface LaunchEntry extends Omit<LaunchRequest, "name"> {
  readonly uid: string;
  /** See {@link LaunchRequest.name}. */
  readonly group: string;
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
  | { readonly kind: "failure"; readonly backoff: ClassBackoff; readonly retryAfterMs?: number | undefined }
  /** The infrastructure has accepted the creation: the machine comes again to see how it ends, and others need not wait for that. */
  | { readonly kind: "accepted" }
  /** It says nothing about the class. */
  | { readonly kind: "ended" };

/** The order in which machines are made. */
export interface LaunchThrottle {
  /** Lets the call begin, now or later. At most one of a machine at a time. */
  enter(entry: LaunchEntry): void;
  /** The call has ended. */
  leave(uid: string, outcome: LaunchOutcome): void;
  /** The call is not wanted any more; nothing happens when one has begun, unless it only looks after an accepted creation. */
  cancel(uid: string): void;
  /** What is wrong with a lane, if anything. */
  classBackoffOf(group: string): ClassBackoff | undefined;
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

interface LaunchGroup {
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
  failedAttempts: number;
  backoff: ClassBackoff | undefined;
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
export function createLaunchThrottle(clock: Clock, limits: LaunchLimits): LaunchThrottle {
  /** In the order of their turns: a lane goes to the end when one of its calls begins. */
  const groups = new Map<string, LaunchGroup>();
  const groupByUid = new Map<string, LaunchGroup>();
  let total = 0;
  let isClosed = false;
  const nowMs = (): number => clock.monotonicMs();

  const findGroup = ({ group: name, inputs, isRepeated }: LaunchEntry): LaunchGroup => {
    const known = groups.get(name);
    if (known !== undefined) {
      known.usedAt = nowMs();
      return known;
    }
    const group: LaunchGroup = {
      name,
      limit: isRepeated ? 1 : limits.perGroup,
      waiting: new Map(),
      running: new Map(),
      accepted: new Map(),
      era: 0,
      failuresInARow: 0,
      failedAttempts: 0,
      backoff: undefined,
      notBefore: 0,
      inputs,
      renewedUntil: 0,
      usedAt: nowMs(),
      timer: undefined,
    };
    groups.set(name, group);
    return group;
  };

  /** The first that waits and may begin now, as far as the version goes that it was made from. */
  const firstOf = ({ waiting, inputs, renewedUntil }: LaunchGroup): LaunchEntry | undefined => {
    const isRenewing = nowMs() < renewedUntil;
    for (const entry of waiting.values()) if (!isRenewing || entry.inputs === inputs) return entry;
    return undefined;
  };

  /** Accepted creations take no place, except after a failure of the class: until it is over, those that were accepted since are the attempts that others wait for. */
  const placesTaken = ({ running, accepted, backoff, limit, era }: LaunchGroup): number => {
    const isRecovering = backoff !== undefined || (era > 0 && limit < limits.perGroup);
    const attempts = isRecovering ? [...accepted.values()].filter((since) => since === era).length : 0;
    return running.size + attempts;
  };

  const next = (): readonly [LaunchGroup, LaunchEntry] | undefined => {
    if (isClosed || total >= limits.inAll) return undefined;
    for (const group of groups.values()) {
      if (placesTaken(group) >= group.limit || group.notBefore > nowMs()) continue;
      const entry = firstOf(group);
      if (entry !== undefined) return [group, entry];
    }
    return undefined;
  };

  /** Drops the lanes of which there is nothing to remember: classes come and go. */
  const tidy = (): void => {
    for (const { name, waiting, running, accepted, limit, failuresInARow, usedAt, notBefore } of groups.values()) {
      if (waiting.size > 0 || running.size > 0 || accepted.size > 0) continue;
      const isPlain = limit === limits.perGroup && failuresInARow === 0;
      if (isPlain || Math.max(usedAt, notBefore) + FORGET_AFTER_MS < nowMs()) groups.delete(name);
    }
  };

  const pump = (): void => {
    for (let turn = next(); turn !== undefined; turn = next()) {
      const [group, entry] = turn;
      group.waiting.delete(entry.uid);
      group.running.set(entry.uid, group.era);
      total++;
      groups.delete(group.name);
      groups.set(group.name, group);
      entry.begin();
    }
    for (const group of groups.values()) {
      group.timer?.cancel();
      group.timer = undefined;
      const leftMs = Math.max(group.notBefore, firstOf(group) === undefined ? group.renewedUntil : 0) - nowMs();
      if (!isClosed && group.waiting.size > 0 && leftMs > 0) group.timer = clock.setTimer(leftMs, pump);
    }
  };

  const reset = (group: LaunchGroup, inputs: string): void => {
    group.inputs = inputs;
    group.limit = limits.perGroup;
    group.backoff = undefined;
    group.failuresInARow = 0;
    group.failedAttempts = 0;
    group.notBefore = 0;
    group.era++;
    group.renewedUntil = nowMs() + RETURN_WITHIN_MS;
    for (const entry of group.waiting.values()) if (entry.inputs !== inputs) entry.changed();
  };

  const failed = (group: LaunchGroup, { backoff, retryAfterMs }: Extract<LaunchOutcome, { kind: "failure" }>): void => {
    group.failuresInARow++;
    const isBackingOff =
      group.backoff !== undefined || group.failuresInARow >= FAILURES_IN_A_ROW[retryClassOf(backoff.code)];
    if (!isBackingOff) return;
    group.failedAttempts++;
    group.era++;
    group.limit = 1;
    const jitter = jitterOf(`${group.name}/${group.failedAttempts}`);
    const failedAttempt = {
      code: backoff.code,
      kind: "create",
      failures: group.failedAttempts,
      jitter,
      retryAfterMs,
    } as const;
    group.notBefore = nowMs() + backoffMs(failedAttempt, limits.exhaustedRetryMs);
    const isNewCode = group.backoff?.code !== backoff.code;
    // The words of the first failure stay as long as the code does: who waits need not write each variant down.
    if (!isNewCode) return;
    group.backoff = backoff;
    for (const entry of group.waiting.values()) entry.changed();
  };

  return {
    enter(entry) {
      if (isClosed) return;
      const known = groupByUid.get(entry.uid);
      if (known?.accepted.has(entry.uid) === true) return entry.begin();
      if (known !== undefined) return;
      tidy();
      const group = findGroup(entry);
      groupByUid.set(entry.uid, group);
      if (group.inputs !== entry.inputs) reset(group, entry.inputs);
      if (entry.isAccepted === true) {
        group.accepted.set(entry.uid, group.era);
        return entry.begin();
      }
      group.waiting.set(entry.uid, entry);
      pump();
    },
    leave(uid, outcome) {
      const group = groupByUid.get(uid);
      const era = group?.running.get(uid) ?? group?.accepted.get(uid);
      if (group === undefined || era === undefined) return;
      if (group.running.delete(uid)) total--;
      if (outcome.kind === "accepted") {
        group.accepted.set(uid, era);
        return pump();
      }
      group.accepted.delete(uid);
      groupByUid.delete(uid);
      const isCurrent = era === group.era;
      if (isCurrent && outcome.kind === "failure" && !ownCodes.has(outcome.backoff.code)) failed(group, outcome);
      if (isCurrent && outcome.kind === "success") {
        group.backoff = undefined;
        group.failuresInARow = 0;
        group.failedAttempts = 0;
        group.limit = Math.min(limits.perGroup, group.limit * 2);
      }
      pump();
      tidy();
    },
    cancel(uid) {
      const group = groupByUid.get(uid);
      if (group === undefined || !(group.waiting.delete(uid) || group.accepted.delete(uid))) return;
      groupByUid.delete(uid);
      pump();
      tidy();
    },
    classBackoffOf: (group) => groups.get(group)?.backoff,
    close() {
      isClosed = true;
      for (const { timer } of groups.values()) timer?.cancel();
    },
  };
}
