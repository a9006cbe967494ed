import { labelKeys, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import { isSameTemplate } from "../../model/template-hash.ts";
import type { MachineList } from "../../machine-lists/machine-list.ts";
import type { SetView } from "./set-size.ts";

/** The sets of a deployment, sorted into the one of the current template and the others. */
export interface Sets {
  readonly newSet: SetView | undefined;
  /** Oldest first, but the one of the proven template last: it shrinks last, and grows when the new set may not. */
  readonly oldSets: readonly SetView[];
}

/** All sets, the one of the current template last. */
export const allOf = ({ newSet, oldSets }: Sets): readonly SetView[] =>
  newSet === undefined ? oldSets : [...oldSets, newSet];

const createdAt = (set: MachineSet): number => Date.parse(set.metadata.creationTimestamp ?? "") || 0;

/** Oldest first, the name last, so that every reconcile sees the same order. */
export const oldestFirst = (sets: readonly MachineSet[]): readonly MachineSet[] =>
  sets.toSorted((a, b) => createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1));

/**
 * The set of the deployment's current template: the oldest that has an equal one and is not terminating. Equality of templates decides,
 * not the hash, so that sets made by the Go implementation are found (MCM, `pkg/controller/deployment_util.go` FindNewMachineSet).
 */
export const findNewSet = (deployment: MachineDeployment, sets: readonly MachineSet[]): MachineSet | undefined =>
  oldestFirst(sets).find(
    (set) =>
      set.metadata.deletionTimestamp == null &&
      isSameTemplate(deployment.spec.template, set.spec.template, labelKeys.machineTemplateHash),
  );

/** The sets with that of the proven template as the last of the old ones. */
export const provenLast = ({ newSet, oldSets }: Sets, proven: string | undefined): Sets => ({
  newSet,
  oldSets: oldSets.toSorted((a, b) => Number(a.set.metadata.name === proven) - Number(b.set.metadata.name === proven)),
});

/**
 * Sorts the sets that a deployment owns, each with its machines.
 *
 * @param machines by the UID of the set that controls them
 * @param settling names of machines that have not served for long enough to count as available. Default: none
 */
export function sortSets(
  deployment: MachineDeployment,
  owned: readonly MachineSet[],
  machines: ReadonlyMap<string, MachineList>,
  settling?: ReadonlySet<string>,
): Sets {
  const view = (set: MachineSet): SetView => ({
    set,
    machines: machines.get(set.metadata.uid ?? "") ?? [],
    ...(settling === undefined ? {} : { settling }),
  });
  const newSet = findNewSet(deployment, owned);
  return {
    newSet: newSet === undefined ? undefined : view(newSet),
    oldSets: oldestFirst(owned.filter((set) => set !== newSet)).map(view),
  };
}
