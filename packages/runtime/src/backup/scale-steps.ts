import {
  type MachineDeployment,
  readMachineDeployment,
  readMachineSet,
  readSizeLimits,
  surgeOf,
  withMachineDeploymentDefaults,
} from "@millwright/core/machine-api";
import { controllerRefOf, isBeingDeleted, type KubeObject } from "@millwright/kube";
import type { ExistingFleet, RestoreStep } from "./restore-step.ts";

const nameOf = ({ metadata }: KubeObject): string => metadata.name ?? "";
const isOwnedBy = (object: KubeObject, { metadata }: KubeObject): boolean =>
  controllerRefOf(object)?.uid === metadata.uid && !isBeingDeleted(object);

/** How many machines the controllers leave to a deployment: those of a rollout may exceed its size. */
function mostOf(
  deployment: MachineDeployment,
  isRollingOut: boolean,
): { readonly size: number; readonly most: number } {
  const limits = readSizeLimits(deployment);
  const size = deployment.spec.replicas ?? (typeof limits === "object" ? limits.min : 0);
  const surge = isRollingOut ? surgeOf(withMachineDeploymentDefaults(deployment), size) : 0;
  return { size, most: size + surge };
}

/** Sizes of sets that exist and would have more machines than they want. */
function setSizes(
  sets: readonly KubeObject[],
  present: readonly KubeObject[],
  added: readonly RestoreStep[],
): ReadonlyMap<string, number> {
  const sizes = sets.map((object): readonly [string, number, number] => {
    const name = nameOf(object);
    const read = readMachineSet(object);
    const names = [
      ...present.filter((machine) => isOwnedBy(machine, object)).map(nameOf),
      ...added.filter(({ owner }) => owner === name).map((step) => step.name),
    ];
    return [name, read.ok ? (read.value.spec.replicas ?? 0) : Infinity, new Set(names).size];
  });
  return new Map(sizes.flatMap(([name, wanted, count]) => (count > wanted ? [[name, count] as const] : [])));
}

/**
 * Deployments that exist and would have more machines than they want: their controller would delete the others with their VMs. So it is where a GitOps tool has created a deployment again
 * before the restore, with its first size. They are scaled.
 */
export function scaleSteps(
  steps: readonly RestoreStep[],
  { deployments, sets, machines }: ExistingFleet,
): readonly RestoreStep[] {
  const incoming = steps.filter(({ kind, action }) => kind === "Machine" && action !== "keep" && action !== "skip");
  return deployments.flatMap((object): readonly RestoreStep[] => {
    const read = readMachineDeployment(object);
    if (!read.ok || isBeingDeleted(object)) return [];
    const name = nameOf(object);
    const ownSets = sets.filter((set) => isOwnedBy(set, object));
    const setNames = new Set(ownSets.map(nameOf));
    for (const { kind, owner, name: set } of steps) if (kind === "MachineSet" && owner === name) setNames.add(set);
    const added = incoming.filter(({ owner }) => owner !== undefined && setNames.has(owner));
    if (added.length === 0) return [];
    const present = machines.filter((machine) => ownSets.some((set) => isOwnedBy(machine, set)));
    const { size: replicas } = new Set([...present.map(nameOf), ...added.map((step) => step.name)]);
    const owners = new Set([...present.map((each) => controllerRefOf(each)?.name), ...added.map(({ owner }) => owner)]);
    const { size, most } = mostOf(read.value, owners.size > 1);
    if (replicas <= most) return [];
    const because = `from ${size} to ${replicas} replicas; otherwise machines would be deleted with their VMs`;
    const ofSets = setSizes(ownSets, present, added);
    return [
      { kind: "MachineDeployment", name, action: "scale", object, current: object, replicas, sets: ofSets, because },
    ];
  });
}
