import { annotationKeys, type MachineSet } from "@millwright/core/machine-api";
import { RELEASE_WINDOW_MS, releaseOf } from "../../safety/released-machines.ts";
import { type RolloutGates, unlimited } from "../state/rollout-gates.ts";

/**
 * Blocks the creation of a set for an hour after another one was released, and as long as there are two: what changes the labels of sets, such as a webhook, would change those of the next ones, too. Each would be released, with
 * all its machines, and replaced by another one of full size.
 *
 * @param released sets without controller that the deployment released
 */
export function releasedSetsGate(released: readonly MachineSet[], now: Date): RolloutGates {
  const sets = released.filter(({ metadata }) => metadata.deletionTimestamp == null);
  const latest = Math.max(...sets.map((set) => releaseOf(set)?.at ?? 0));
  const until = new Date(latest + RELEASE_WINDOW_MS);
  const isRecent = until > now;
  const [first] = sets.map(({ metadata }) => metadata.name).toSorted();
  if (first === undefined || (sets.length === 1 && !isRecent)) return unlimited;
  const which = sets.length === 1 ? `MachineSet ${first}` : `${sets.length} MachineSets, among them ${first},`;
  const blocksCreation = `Cannot create a MachineSet: labels of ${which} no longer match the selector. Restore the labels, delete what was released, or remove its annotation ${annotationKeys.releasedFrom}`;
  return { ...unlimited, blocksCreation, ...(isRecent ? { requeueAt: until } : {}) };
}
