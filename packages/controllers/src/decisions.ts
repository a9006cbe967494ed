/** The decisions of the controllers and what they read, for a simulation that runs them over a model of the cluster. */
export type { NodesOfMachines } from "./cluster/nodes-of-machines.ts";
export { decideMachineDeployment } from "./machine-deployment/decide.ts";
export { deploymentProblems, observeMachineDeployment } from "./machine-deployment/observe.ts";
export type { NodeChange } from "./machine-deployment/state/node-patch.ts";
export { boundsOf } from "./machine-deployment/state/rollout-bounds.ts";
export type { RolloutGates } from "./machine-deployment/state/rollout-gates.ts";
export type { MachineDeploymentAction, MachineDeploymentSnapshot } from "./machine-deployment/state/snapshot.ts";
export { countMachines } from "./machine-lists/machine-counts.ts";
export { trackMachines } from "./machine-lists/tracked-machines.ts";
export type { TrackedMachines } from "./machine-lists/tracked-machines.ts";
export { decideMachineSet } from "./machine-set/decide.ts";
export { newMachine } from "./machine-set/new-machine.ts";
export { machineSetSnapshot } from "./machine-set/observe.ts";
export type { MachineSetAction } from "./machine-set/snapshot.ts";
export type { NodeConditionState } from "./model/node-condition.ts";
export { isAvailable, isDeleting } from "./model/phase.ts";
export { addFinalizerPatch } from "./ownership/finalizer-patch.ts";
export { hasFreezeLabel } from "./safety/freeze-set.ts";
