import { annotationKeys, type Machine, type MachineSet, phaseOf } from "@millwright/core";
import { countMachines } from "../machine-lists/machine-counts.ts";

const positive = /^[1-9]\d{0,8}$/;

/** How many machines a set had when a definition was deleted, and waits for; `undefined` when it waits for none. */
export function awaitedMachines({ metadata }: Pick<MachineSet, "metadata">): number | undefined {
  const text = metadata.annotations?.[annotationKeys.expectedReplicas] ?? "";
  return positive.test(text) ? Number(text) : undefined;
}

/** Whether machines are still missing that a set had. Those that it is not to have any more are not waited for. */
export function isAwaiting(set: MachineSet, owned: readonly Machine[]): boolean {
  const wanted = Math.min(awaitedMachines(set) ?? 0, set.spec.replicas ?? 0);
  return countMachines(owned).present < wanted;
}

/**
 * Notes the machines that a set has, once; those that are being taken apart for another reason are not counted. Some may have been let go before this process looked: the status still
 * counts them.
 */
export function awaitPatch(set: MachineSet, owned: readonly Machine[]): Readonly<Record<string, unknown>> | undefined {
  const leaving = owned.filter((machine) => phaseOf(machine) === "Terminating").length;
  const count = Math.max(owned.length, set.status?.replicas ?? 0) - leaving;
  if (count <= 0 || set.metadata.annotations?.[annotationKeys.expectedReplicas] !== undefined) return undefined;
  return { metadata: { annotations: { [annotationKeys.expectedReplicas]: String(count) } } };
}

/** Takes the note away. */
export const arrivedPatch = { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } } as const;
