import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import { longestAvailable, availableSince } from "../../machine-lists/available-since.ts";
import type { MachineList } from "../../machine-lists/machine-list.ts";
import { honoredMinReadySeconds } from "../../model/min-ready.ts";

/** Machines that serve, but not for long enough to count. */
export interface Settling {
  readonly names: ReadonlySet<string>;
  /** When the next of them counts. */
  readonly nextAt: Date | undefined;
}

/** The machines that `spec.minReadySeconds` keeps from counting as available. A scale-down deletes them first. */
export function settlingMachines(
  deployment: MachineDeployment,
  machinesOfSets: Iterable<MachineList>,
  now: Date,
): Settling {
  const seconds = honoredMinReadySeconds(deployment);
  if (seconds <= 0) return { names: new Set(), nextAt: undefined };
  const countsAt = (machine: Machine): number => availableSince(machine) + seconds * 1000;
  const names = new Set<string>();
  let nextMs = Infinity;
  for (const machines of machinesOfSets) {
    const serving = longestAvailable(machines);
    const settled = serving.findLastIndex((machine) => countsAt(machine) <= now.getTime()) + 1;
    for (const machine of serving.slice(settled)) {
      names.add(machine.metadata.name);
      nextMs = Math.min(nextMs, countsAt(machine));
    }
  }
  return { names, nextAt: names.size === 0 ? undefined : new Date(nextMs) };
}
