import type { Node } from "@millwright/controllers";
import {
  type MachineDeploymentAction,
  type MachineSetAction,
  newMachine,
  type NodeChange,
  releaseAnnotation,
} from "@millwright/controllers/decisions";
import {
  finalizers,
  labelKeys,
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
  taintKeys,
} from "@millwright/core/machine-api";
import { addFinalizerPatch, adoptPatch, newControllerRef, releasePatch } from "@millwright/kube";
import type { ModelCluster } from "./model-cluster.ts";
import type { DeletedMachine, PreviewStep } from "./preview-step.ts";

/** What happens at one moment of a simulation, collected. */
export type Notes = { -readonly [Key in Exclude<keyof PreviewStep, "afterMs" | "after">]: PreviewStep[Key][number][] };

export const noNotes = (): Notes => ({
  setsCreated: [],
  setsDeleted: [],
  machinesCreated: [],
  machinesDeleted: [],
  machinesChanged: [],
  machinesUpdated: [],
  nodesTainted: [],
  nodesUntainted: [],
  messages: [],
});

/** The moment at which actions are carried out. */
export interface Moment {
  readonly notes: Notes;
  readonly now: Date;
  /** Whether a node exists before the simulation. */
  readonly isRealNode: (name: string) => boolean;
  /** Whether the deletion budget holds the deletion of a terminating machine. */
  readonly isHeld: (name: string) => boolean;
}

const isAvoided = (node: Node | undefined): boolean =>
  node?.spec?.taints?.some(({ key }) => key === taintKeys.preferNoSchedule) === true;

function changeNode(
  cluster: ModelCluster,
  { name, patch, condition }: NodeChange,
  { notes, now, isRealNode }: Moment,
): void {
  const before = isAvoided(cluster.nodes.get(name));
  if (patch !== undefined) cluster.patchNode(name, patch);
  if (condition !== undefined) cluster.setNodeCondition(name, condition, now);
  const after = isAvoided(cluster.nodes.get(name));
  if (after && !before && isRealNode(name)) notes.nodesTainted.push(name);
  if (before && !after && isRealNode(name)) notes.nodesUntainted.push(name);
}

/** Whether a patch changes the spec of a machine, and not only marks for controllers. */
const changesSpec = (patch: object): boolean => "spec" in patch;

/** Carries out an action of the MachineDeployment controller in the model. */
export function carryOutForDeployment(
  cluster: ModelCluster,
  deployment: MachineDeployment,
  action: MachineDeploymentAction,
  moment: Moment,
): void {
  const { notes, now } = moment;
  const { name, uid = "" } = deployment.metadata;
  switch (action.kind) {
    case "AddFinalizer":
      return cluster.patchDeployment(name, addFinalizerPatch(deployment, finalizers.machine));
    case "RemoveFinalizer":
      return cluster.removeDeployment(name);
    case "AdoptMachineSet": {
      const set = cluster.sets.get(action.name);
      if (set === undefined) return;
      return cluster.patchSet(action.name, adoptPatch(set, newControllerRef(machineDeploymentResource, deployment)));
    }
    case "OrphanMachineSet":
    case "ReleaseMachineSet": {
      const set = cluster.sets.get(action.name);
      if (set === undefined) return;
      const { metadata } = releasePatch(set, uid);
      const annotations = action.kind === "OrphanMachineSet" ? {} : releaseAnnotation(uid, now);
      return cluster.patchSet(action.name, { metadata: { ...metadata, annotations } });
    }
    case "CreateMachineSet": {
      const { set } = action;
      const metadata = { ...set.metadata, uid: `preview-${set.metadata.name}`, creationTimestamp: now.toISOString() };
      cluster.addSet({ ...set, metadata });
      notes.setsCreated.push({ name: metadata.name, className: set.spec.template.spec.class?.name ?? "" });
      return;
    }
    case "PatchMachineSet":
      return cluster.patchSet(action.name, action.patch);
    case "PatchMachine":
      return cluster.patchMachine(action.name, action.patch);
    case "PatchNodes":
      for (const change of action.nodes) changeNode(cluster, change, moment);
      return;
    case "DeleteMachineSet":
      notes.setsDeleted.push(action.name);
      return cluster.patchSet(action.name, { metadata: { deletionTimestamp: now.toISOString() } });
    case "PatchDeployment":
      return cluster.patchDeployment(name, action.patch);
  }
}

/** The machine as the preview shows it; its node only if it exists already. */
function deleted(
  cluster: ModelCluster,
  set: MachineSet,
  name: string,
  isReal: (node: string) => boolean,
): DeletedMachine {
  const node = cluster.machines.get(name)?.metadata.labels?.[labelKeys.node] ?? "";
  return { name, set: set.metadata.name, ...(isReal(node) ? { node } : {}) };
}

/** Carries out an action of the MachineSet controller in the model. */
export function carryOutForSet(
  cluster: ModelCluster,
  set: MachineSet,
  action: MachineSetAction,
  { notes, now, isRealNode, isHeld }: Moment,
): void {
  const { name, uid = "" } = set.metadata;
  switch (action.kind) {
    case "AddFinalizer":
      return cluster.patchSet(name, addFinalizerPatch(set, finalizers.machine));
    case "RemoveFinalizer":
      return cluster.removeSet(name);
    case "PatchSet":
      return cluster.patchSet(name, action.patch);
    case "UseApproval":
      return action.of === "MachineSet"
        ? cluster.patchSet(action.name, action.patch)
        : cluster.patchDeployment(action.name, action.patch);
    case "AdoptMachine":
    case "OrphanMachine":
    case "ReleaseMachine": {
      const machine = cluster.machines.get(action.name);
      if (machine === undefined) return;
      const patch =
        action.kind === "AdoptMachine"
          ? adoptPatch(machine, newControllerRef(machineSetResource, set))
          : releasePatch(machine, uid);
      return cluster.patchMachine(action.name, patch);
    }
    case "PatchMachine":
      if (changesSpec(action.patch)) notes.machinesChanged.push(action.name);
      return cluster.patchMachine(action.name, action.patch);
    case "CreateMachines":
      for (let count = 0; count < action.count; count++) {
        const created = newMachine(set, cluster.nextName(name));
        const metadata = {
          ...created.metadata,
          uid: `preview-${created.metadata.name}`,
          creationTimestamp: now.toISOString(),
        };
        cluster.addMachine({ ...created, metadata });
      }
      notes.machinesCreated.push({ set: name, count: action.count });
      return;
    case "DeleteMachine":
      cluster.patchMachine(action.name, { metadata: { deletionTimestamp: now.toISOString() } });
      if (!isHeld(action.name)) notes.machinesDeleted.push(deleted(cluster, set, action.name, isRealNode));
      return;
  }
}
