import type { Machine } from "@millwright/core/machine-api";
import type { MachineSettings } from "../model/machine-settings.ts";
import { storedInterruption } from "../model/interruption.ts";
import type { Node } from "../model/node-objects.ts";
import { drainTimeoutMs } from "../model/timeouts.ts";
import { type DrainClock, readDrainRecord } from "./drain-record.ts";

/** A drain, as far as its deadlines need it. */
export interface TimedDrain {
  readonly machine: Machine;
  readonly settings: MachineSettings;
  /** Wall clock, milliseconds, stored in an object. */
  readonly startedAt: number;
  /** Since when this process has followed the drain without a break, wall clock in milliseconds; absent for a reader that does not carry it out. */
  readonly observedSince?: number | undefined;
  /** The drained node, which may show that the cloud reclaims its VM. */
  readonly node: Node | undefined;
}

/** The deadlines of a drain, wall clock in milliseconds. */
export interface DrainWindow {
  /** From then on pods are deleted with their grace period, regardless of their budgets. */
  readonly evictUntil: number;
  /** From then on the remaining pods are deleted without a grace period, and the drain is complete. */
  readonly deadline: number;
  /** Before then a drain that was resumed is not forced because of its node. */
  readonly resumedUntil: number;
  /** When the time that counts has to be stored. */
  readonly recordAt: number;
  /** The time that counts, to be stored. */
  readonly clock: DrainClock;
}

/** The unit of `maxEvictRetries`: MCM evicts a pod again after this time. Our own interval is in `eviction-queue.ts` of kube. */
const MCM_EVICTION_INTERVAL_MS = 20_000;

/** After a pause pods get at least this time for evictions, milliseconds: three attempts. */
const RESUMED_MS = 3 * MCM_EVICTION_INTERVAL_MS;

/** Before its VM is reclaimed, a pod whose budget allows no eviction gets this time to end gracefully, milliseconds: half of the shortest notice of a cloud. */
const INTERRUPTED_GRACE_MS = 15_000;

/** The time that counts is stored this often, milliseconds; more often in a short drain. Most drains end before and store nothing. */
const RECORD_MS = 5 * 60_000;
const SHORTEST_RECORD_MS = 30_000;

/**
 * The time window of a drain. `maxEvictRetries` and `drainTimeout` count from its start, as in MCM (`pkg/util/provider/drain/drain.go` RunDrain), but only the time in which the drain was
 * carried out: not while its deletion was paused, or no process was running. What counts is known from this process's observation, and from a record on the machine. Between two records, time
 * counts for two intervals at most. After a pause pods get a minute for evictions, or the whole drain timeout where that is shorter. Nothing extends the drain beyond the time at which the cloud reclaims the VM.
 */
export function drainWindow(drain: TimedDrain, now: Date): DrainWindow {
  const { machine, settings, startedAt, observedSince, node } = drain;
  const nowMs = now.getTime();
  const endsAfterMs = drainTimeoutMs(drain);
  const retries = machine.spec.maxEvictRetries ?? settings.maxEvictRetries;
  const evictsForMs = Math.min(retries * MCM_EVICTION_INTERVAL_MS, endsAfterMs);
  const intervalMs = Math.max(SHORTEST_RECORD_MS, Math.min(RECORD_MS, endsAfterMs / 8));

  const stored = readDrainRecord(machine.metadata).clock;
  const known = stored !== undefined && Date.parse(stored.startedAt) === startedAt ? stored : undefined;
  const countedUntil = known === undefined ? startedAt : Date.parse(known.countedUntil);
  // From here on this process has seen everything itself.
  const seenFrom = Math.max(countedUntil, observedSince ?? nowMs);
  const unseenMs = Math.max(0, Math.min(seenFrom - countedUntil, 2 * intervalMs));
  const countedMs = (known?.countedMs ?? 0) + unseenMs + Math.max(0, nowMs - seenFrom);
  const pausedMs = Math.max(0, nowMs - startedAt - countedMs);

  const resumedAt = observedSince ?? Number.NEGATIVE_INFINITY;
  const isResumed = resumedAt > startedAt + RESUMED_MS;
  const evictUntil = Math.max(startedAt + pausedMs + evictsForMs, resumedAt + Math.min(RESUMED_MS, evictsForMs));
  const deadline = Math.max(startedAt + pausedMs + endsAfterMs, resumedAt + Math.min(RESUMED_MS, endsAfterMs));
  const interruptedAt = storedInterruption(machine, node, startedAt) ?? Number.POSITIVE_INFINITY;
  return {
    evictUntil: Math.min(evictUntil, interruptedAt - INTERRUPTED_GRACE_MS),
    deadline: Math.min(deadline, interruptedAt),
    resumedUntil: isResumed ? resumedAt + RESUMED_MS : Number.NEGATIVE_INFINITY,
    recordAt: countedUntil + intervalMs,
    clock: {
      startedAt: new Date(startedAt).toISOString(),
      countedUntil: now.toISOString(),
      countedMs,
    },
  };
}
