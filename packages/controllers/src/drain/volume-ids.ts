import { type Clock, wallTimeOf } from "@millwright/base";
import type { DriverOutcome } from "../model/driver-port.ts";

/** One entry per requested volume, in the same order: its id, or `null` for a volume of another infrastructure. */
export type VolumeIdAnswer = readonly (string | null)[];

/** A lookup by a driver. */
export interface VolumeIdLookup {
  /** Names of the PersistentVolumes. */
  readonly volumes: readonly string[];
  readonly run: (signal: AbortSignal) => Promise<DriverOutcome<VolumeIdAnswer>>;
  /** Called once, when the driver has returned or failed. */
  readonly enqueue: () => void;
}

export type VolumeIds = ReturnType<typeof createVolumeIds>;

/** A drain waits at most this long for a driver; then it uses the handle of the volume, milliseconds. */
const ANSWER_MS = 10_000;

/** A failed lookup may be repeated after this time, milliseconds. */
const RETRY_MS = 5 * 60_000;

/** `untilMs`: when the wait for a result ends. `retryAtMs`: when a failed lookup may be repeated. Both by the monotonic clock. */
type Entry =
  | { readonly state: "pending"; readonly untilMs: number }
  | { readonly state: "known"; readonly id: string | null }
  | { readonly state: "failed"; readonly retryAtMs: number };

/** Caches the ids of PersistentVolumes: one lookup for all volumes of a node, in the background, and one result per volume. A restart repeats the lookups. */
export function createVolumeIds(clock: Clock) {
  /** By volume, then by driver: a deleted volume is removed with all ids. */
  const entries = new Map<string, Map<string, Entry>>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  const set = (driver: string, volume: string, entry: Entry): void => {
    const ofVolume = entries.get(volume) ?? new Map<string, Entry>();
    entries.set(volume, ofVolume.set(driver, entry));
  };
  const lookUpAll = async (driver: string, { volumes, run, enqueue }: VolumeIdLookup): Promise<void> => {
    const outcome = await run(closing.signal);
    volumes.forEach((volume, index) => {
      // The volume was deleted meanwhile.
      if (!entries.has(volume)) return;
      const id = outcome.ok ? outcome.value[index] : undefined;
      // A driver that does not support volumes is not called again: the handle is used.
      const isFinal = !outcome.ok && outcome.error.code === "Unimplemented";
      const retryAtMs = isFinal ? Number.POSITIVE_INFINITY : clock.monotonicMs() + RETRY_MS;
      set(driver, volume, id === undefined ? { state: "failed", retryAtMs } : { state: "known", id });
    });
    enqueue();
  };

  return {
    /** The id by which nodes report the volume, `null` for one of another infrastructure, `undefined` when it is unknown. */
    idOf(driver: string, volume: string): string | null | undefined {
      const entry = entries.get(volume)?.get(driver);
      return entry?.state === "known" ? entry.id : undefined;
    },
    /** Until when a drain waits for the id, wall clock in milliseconds: in the past when it is known, or will not be; `undefined` when it was not requested. */
    waitUntil(driver: string, volume: string): number | undefined {
      const entry = entries.get(volume)?.get(driver);
      if (entry?.state === "pending") return wallTimeOf(clock, entry.untilMs);
      const isOutdated = entry?.state === "failed" && clock.monotonicMs() >= entry.retryAtMs;
      return entry === undefined || isOutdated ? undefined : 0;
    },
    lookUp(driver: string, lookup: VolumeIdLookup): void {
      if (closing.signal.aborted) return;
      const untilMs = clock.monotonicMs() + ANSWER_MS;
      for (const volume of lookup.volumes) set(driver, volume, { state: "pending", untilMs });
      const promise = lookUpAll(driver, lookup).finally(() => running.delete(promise));
      running.add(promise);
    },
    /** The volume is deleted. */
    forget: (volume: string): void => void entries.delete(volume),
    /** Aborts the lookups in flight; resolves when they have ended. */
    async close(): Promise<void> {
      closing.abort(new Error("the controller is stopping"));
      await Promise.allSettled(running);
    },
  };
}
