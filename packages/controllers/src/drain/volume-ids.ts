import type { Clock } from "@millwright/core";
import type { DriverOutcome } from "../model/driver-port.ts";

/** One entry per volume that was asked for, in the same order: its id, or `null` for a volume of another infrastructure. */
export type VolumeIdAnswer = readonly (string | null)[];

/** A question to a driver. */
export interface VolumeIdLookup {
  /** Names of the PersistentVolumes. */
  readonly volumes: readonly string[];
  readonly run: (signal: AbortSignal) => Promise<DriverOutcome<VolumeIdAnswer>>;
  /** Called once, when the driver has answered or failed. */
  readonly enqueue: () => void;
}

/** Remembers what drivers say about PersistentVolumes: one question for all volumes of a node, asked beside the queue, and never twice for the same volume. */
export interface VolumeIds {
  /** The id by which nodes report the volume, `null` for one that is not of this driver's infrastructure, `undefined` when the driver has not said. */
  idOf(driver: string, volume: string): string | null | undefined;
  /** Until when an answer is waited for, wall clock in milliseconds: in the past when there is one, or will be none; `undefined` when nobody has asked. */
  waitUntil(driver: string, volume: string): number | undefined;
  lookUp(driver: string, lookup: VolumeIdLookup): void;
  /** The volume is gone. */
  forget(volume: string): void;
  /** Aborts the questions under way; resolves when they have ended. */
  close(): Promise<void>;
}

/** A drain does not wait longer than this for a driver: it goes by the handle of the volume then, milliseconds. */
const ANSWER_MS = 10_000;

/** A driver that failed is asked anew after this time, if a drain still wants to know, milliseconds. */
const RETRY_MS = 5 * 60_000;

/** `until`: when the wait for an answer ends. `retryAt`: when a driver that failed may be asked again. */
type Entry =
  | { readonly state: "asked"; readonly until: number }
  | { readonly state: "answered"; readonly id: string | null }
  | { readonly state: "failed"; readonly retryAt: number };

/** Makes an empty {@link VolumeIds}. It holds nothing that a restart would not ask again. */
export function createVolumeIds(clock: Clock): VolumeIds {
  /** By volume, then by driver: a volume that goes takes all answers with it. */
  const entries = new Map<string, Map<string, Entry>>();
  const running = new Set<Promise<void>>();
  const closing = new AbortController();

  const set = (driver: string, volume: string, entry: Entry): void => {
    const ofVolume = entries.get(volume) ?? new Map<string, Entry>();
    entries.set(volume, ofVolume.set(driver, entry));
  };
  const answer = async (driver: string, { volumes, run, enqueue }: VolumeIdLookup): Promise<void> => {
    const outcome = await run(closing.signal);
    volumes.forEach((volume, index) => {
      // A volume that went meanwhile stays forgotten.
      if (!entries.has(volume)) return;
      const id = outcome.ok ? outcome.value[index] : undefined;
      // A driver that knows no volumes will not learn it: the handle has to do, once and for all.
      const isFinal = !outcome.ok && outcome.error.code === "Unimplemented";
      const retryAt = isFinal ? Number.POSITIVE_INFINITY : clock.now().getTime() + RETRY_MS;
      set(driver, volume, id === undefined ? { state: "failed", retryAt } : { state: "answered", id });
    });
    enqueue();
  };

  return {
    idOf(driver, volume) {
      const entry = entries.get(volume)?.get(driver);
      return entry?.state === "answered" ? entry.id : undefined;
    },
    waitUntil(driver, volume) {
      const entry = entries.get(volume)?.get(driver);
      if (entry?.state === "asked") return entry.until;
      const isOutdated = entry?.state === "failed" && clock.now().getTime() >= entry.retryAt;
      return entry === undefined || isOutdated ? undefined : 0;
    },
    lookUp(driver, lookup) {
      if (closing.signal.aborted) return;
      const until = clock.now().getTime() + ANSWER_MS;
      for (const volume of lookup.volumes) set(driver, volume, { state: "asked", until });
      const promise = answer(driver, lookup).finally(() => running.delete(promise));
      running.add(promise);
    },
    forget: (volume) => void entries.delete(volume),
    async close() {
      closing.abort(new Error("the controller stops"));
      await Promise.allSettled(running);
    },
  };
}
