import { type Clock, wallTimeOf } from "@millwright/base";

export type ObservedDrains = ReturnType<typeof createObservedDrains>;

/** Records since when this process has observed each drain without interruption. A pause or a restart begins a new interval. */
export function createObservedDrains(clock: Pick<Clock, "now" | "monotonicMs">) {
  /** By the monotonic clock. */
  const sinceMs = new Map<string, number>();
  return {
    /** Wall clock, milliseconds; `undefined` for a drain that was not followed until now. */
    since(machine: string): number | undefined {
      const atMs = sinceMs.get(machine);
      return atMs === undefined ? undefined : wallTimeOf(clock, atMs);
    },
    /** Records whether the drain of the machine is carried out now: not when it is paused, or its cluster is unreachable. */
    note(machine: string, isCarriedOut: boolean): void {
      if (!isCarriedOut) sinceMs.delete(machine);
      else if (!sinceMs.has(machine)) sinceMs.set(machine, clock.monotonicMs());
    },
  };
}
