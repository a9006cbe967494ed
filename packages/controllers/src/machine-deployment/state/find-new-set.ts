import { labelKeys, type MachineDeployment, type MachineSet } from "@millwright/core";
import { isSameTemplate } from "../../model/template-hash.ts";

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
