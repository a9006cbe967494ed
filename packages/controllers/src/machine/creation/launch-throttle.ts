import type { LaunchRequest, ClassBackoff } from "../../model/operation.ts";
import type { Clock, Timer } from "@millwright/base";
import type { MachineErrorCode } from "@millwright/core";
import { retryClassOf } from "@millwright/core/driver-host";
import { backoffMs, jitterOf } from "../../model/retry.ts";
import type { Live } from "../../model/live.ts";

/** How many machines may be created concurrently. When others replace them, {@link LaunchThrottle.limitsChanged} must follow. */
export interface LaunchLimits {
  /** Per launch group. */
  readonly perGroup: number;
  /** Over all groups; a group or credential without its share of it starts calls beyond it. */
  readonly inAll: number;
  /** Maximum backoff of a class that is out of quota or capacity, milliseconds. */
  readonly exhaustedRetryMs: number;
}

/** A creation call to throttle. */
export interface LaunchEntry extends Omit<LaunchRequest, "name"> {
  readonly uid: string;
  /** See {@link LaunchRequest.name}. */
  readonly group: string;
  /** Driver and Secret; groups with the same one share a cloud account. Default: one for all. */
  readonly credential?: string;
  /** Version of class and secrets; a new one resets the backoff. */
  readonly inputs: string;
  /** Called once, when the call may start. */
  readonly begin: () => void;
  /** Called while the call waits, when the reason for the wait has changed. */
  readonly changed: () => void;
}

/** How a call ended. */
export type LaunchOutcome =
  | { readonly kind: "success" }
  | { readonly kind: "failure"; readonly backoff: ClassBackoff; readonly retryAfterMs?: number | undefined }
  /** The infrastructure has accepted the creation: the machine checks it later, and others do not wait for it. */
  | { readonly kind: "accepted" }
  /** The outcome is unrelated to the class. */
  | { readonly kind: "ended" };

/** Limits concurrent creations, and backs off from classes whose creations fail. */
export interface LaunchThrottle {
  /** Starts the call now or later. At most one per machine at a time. */
  enter(entry: LaunchEntry): void;
  /** The call has ended. */
  leave(uid: string, outcome: LaunchOutcome): void;
  /** The call is no longer needed; no-op for a call that has started, unless it only checks an accepted creation. */
  cancel(uid: string): void;
  /** Why a group is backed off, if it is. */
  classBackoffOf(group: string): ClassBackoff | undefined;
  /** Starts calls that other limits allow. */
  limitsChanged(): void;
  close(): void;
}

/** Codes that concern one machine and not its class. */
const ownCodes: ReadonlySet<MachineErrorCode> = new Set(["AlreadyExists", "OutOfRange", "NotFound", "Uninitialized"]);

/** This many consecutive failures concern the class and not a machine. */
const FAILURES_IN_A_ROW = { none: 3, persistent: 3, transient: 5, exhausted: 1 } as const;

/** For this long after a new version was seen, calls with another version do not start: they are notified and return with the new one; milliseconds. */
const RETURN_WITHIN_MS = 5_000;

/** The state of an unused group is dropped after this time, milliseconds. */
const FORGET_AFTER_MS = 3_600_000;

interface LaunchGroup {
  readonly name: string;
  readonly credential: string;
  /** Maximum concurrent calls besides the limits: one during a backoff, doubled by each success, infinite once it reaches that of the class. */
  limit: number;
  /** In order of arrival. */
  readonly waiting: Map<string, LaunchEntry>;
  /** UID and era of each running call. */
  readonly running: Map<string, number>;
  /** UID and era of each creation that was accepted and has not ended. Disjoint from `waiting` and `running`: their calls start at once and do not count. */
  readonly accepted: Map<string, number>;
  /** Incremented by each failure that counts: outcomes of earlier calls are ignored. */
  era: number;
  failuresInARow: number;
  /** Failed attempts since the backoff began. */
  failedAttempts: number;
  backoff: ClassBackoff | undefined;
  /** Monotonic clock, milliseconds: no call starts before. */
  notBefore: number;
  inputs: string;
  /** Monotonic clock, milliseconds: until then only calls made from `inputs` start. */
  renewedUntil: number;
  /** Monotonic clock, milliseconds: when a call arrived last. */
  usedAt: number;
  timer: Timer | undefined;
}

/**
 * Which groups have less than their share of the limit, so that calls that hang in other groups, or with other credentials, do not keep them from starting. Shares are equal among groups, and among
 * credentials, that have calls; at least one call each.
 */
function sharesOf(groups: readonly LaunchGroup[], inAll: number): (group: LaunchGroup) => boolean {
  const active = groups.filter(({ running, waiting }) => running.size + waiting.size > 0);
  const byCredential = new Map<string, number>();
  for (const { credential, running } of active)
    byCredential.set(credential, (byCredential.get(credential) ?? 0) + running.size);
  const share = (parts: number): number => Math.max(1, Math.floor(inAll / Math.max(1, parts)));
  return ({ credential, running }) =>
    running.size < share(active.length) || (byCredential.get(credential) ?? 0) < share(byCredential.size);
}

/**
 * Isolates classes from each other: each has its own limit of concurrent calls, and groups start calls round-robin. When creations of a class fail, one machine
 * at a time retries with exponential backoff; the first success lets two others follow, then four, and so on.
 * The state is kept in memory only: after a restart a machine that failed before probes the class again.
 */
export function createLaunchThrottle(clock: Clock, limits: Live<LaunchLimits>): LaunchThrottle {
  /** In round-robin order: a group moves to the end when one of its calls starts. */
  const groups = new Map<string, LaunchGroup>();
  const groupByUid = new Map<string, LaunchGroup>();
  let total = 0;
  let isClosed = false;
  const nowMs = (): number => clock.monotonicMs();

  const findGroup = ({ group: name, credential = "", inputs, isRepeated }: LaunchEntry): LaunchGroup => {
    const known = groups.get(name);
    if (known !== undefined) {
      known.usedAt = nowMs();
      return known;
    }
    const group: LaunchGroup = {
      name,
      credential,
      limit: isRepeated ? 1 : Number.POSITIVE_INFINITY,
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

  /** The first waiting call whose version may start now. */
  const firstOf = ({ waiting, inputs, renewedUntil }: LaunchGroup, now: number): LaunchEntry | undefined => {
    const isRenewing = now < renewedUntil;
    for (const entry of waiting.values()) if (!isRenewing || entry.inputs === inputs) return entry;
    return undefined;
  };

  /** Accepted creations do not count, except after a failure of the class: until it recovers, those accepted since then are the attempts that others wait for. */
  const placesTaken = ({ running, accepted, backoff, limit, era }: LaunchGroup): number => {
    const isRecovering = backoff !== undefined || (era > 0 && limit < limits.current().perGroup);
    const attempts = isRecovering ? [...accepted.values()].filter((since) => since === era).length : 0;
    return running.size + attempts;
  };

  const next = (now: number): readonly [LaunchGroup, LaunchEntry] | undefined => {
    if (isClosed) return undefined;
    const mayExceed =
      total >= limits.current().inAll ? sharesOf([...groups.values()], limits.current().inAll) : () => true;
    for (const group of groups.values()) {
      if (!mayExceed(group)) continue;
      if (placesTaken(group) >= Math.min(group.limit, limits.current().perGroup) || group.notBefore > now) continue;
      const entry = firstOf(group, now);
      if (entry !== undefined) return [group, entry];
    }
    return undefined;
  };

  /** Drops groups without state. */
  const tidy = (): void => {
    for (const { name, waiting, running, accepted, limit, failuresInARow, usedAt, notBefore } of groups.values()) {
      if (waiting.size > 0 || running.size > 0 || accepted.size > 0) continue;
      const isPlain = limit >= limits.current().perGroup && failuresInARow === 0;
      if (isPlain || Math.max(usedAt, notBefore) + FORGET_AFTER_MS < nowMs()) groups.delete(name);
    }
  };

  const pump = (): void => {
    // Read once: a timer may fire a little early, and a group that may not start yet needs the next timer even when its time comes in the meantime.
    const now = nowMs();
    for (let turn = next(now); turn !== undefined; turn = next(now)) {
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
      const leftMs = Math.max(group.notBefore, firstOf(group, now) === undefined ? group.renewedUntil : 0) - now;
      if (!isClosed && group.waiting.size > 0 && leftMs > 0) group.timer = clock.setTimer(leftMs, pump);
    }
  };

  const reset = (group: LaunchGroup, inputs: string): void => {
    group.inputs = inputs;
    group.limit = Number.POSITIVE_INFINITY;
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
    group.notBefore = nowMs() + backoffMs(failedAttempt, limits.current().exhaustedRetryMs);
    const isNewCode = group.backoff?.code !== backoff.code;
    // The first message is kept as long as the code is the same: waiting machines need not write each variant.
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
        group.limit = group.limit * 2 < limits.current().perGroup ? group.limit * 2 : Number.POSITIVE_INFINITY;
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
    limitsChanged: pump,
    classBackoffOf: (group) => groups.get(group)?.backoff,
    close() {
      isClosed = true;
      for (const { timer } of groups.values()) timer?.cancel();
    },
  };
}
