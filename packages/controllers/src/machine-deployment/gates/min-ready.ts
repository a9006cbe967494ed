import { annotationKeys, type Machine, type MachineDeployment } from "@millwright/core";
import { longestAvailable, availableSince } from "../../machine-lists/available-since.ts";

/** Machines that serve, but not for long enough to count. */
export interface Settling {
  readonly names: ReadonlySet<string>;
  /** When the next of them counts. */
  readonly nextAt: Date | undefined;
}

/**
 * The machines that `spec.minReadySeconds` keeps from counting as available. Only for deployments with the annotation: Gardener writes 500 into every
 * deployment, MCM ignores it, and rollouts would take hours longer.
 */
export function settlingMachines(
  { metadata, spec }: MachineDeployment,
  machinesOfSets: Iterable<readonly Machine[]>,
  now: Date,
): Settling {
  const isHonoured = metadata.annotations?.[annotationKeys.honorMinReadySeconds] === "true";
  const { minReadySeconds: seconds = 0 } = spec;
  if (!isHonoured || seconds <= 0) return { names: new Set(), nextAt: undefined };
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
