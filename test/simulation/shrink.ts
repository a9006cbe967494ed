import type { ScheduledFault } from "./faults/fault.ts";
import type { Schedule } from "./faults/profiles.ts";

/**
 * Removes faults from a schedule for as long as it still fails: delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input").
 * No single fault of the result can be left out.
 */
export async function shrink(schedule: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> {
  let faults = schedule.faults;
  const without = (from: number, count: number): readonly ScheduledFault[] => faults.toSpliced(from, count);
  for (let size = Math.ceil(faults.length / 2); size >= 1;) {
    let isSmaller = false;
    for (let from = 0; from < faults.length;) {
      const rest = without(from, size);
      if (await fails({ ...schedule, faults: rest })) {
        faults = rest;
        isSmaller = true;
      } else from += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!isSmaller) break;
  }
  return { ...schedule, faults };
}
