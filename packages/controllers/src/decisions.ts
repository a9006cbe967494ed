/** The decisions of the controllers and what they read, for a simulation that runs them over a model of the cluster. */
export type { NodesOfMachines } from "./cluster/nodes-of-machines.ts";
export { isApprovedBy } from "./deletion-budget/approval.ts";
export { DEFAULT_SHARE } from "./deletion-budget/deletion-budget.ts";
export { isInService } from "./deletion-budget/fleet-ledger.ts";
export { judgeRequests } from "./deletion-budget/judge-requests.ts";
export type { RequestedDeletions } from "./deletion-budget/requested-deletions.ts";
export { decideMachineDeployment } from "./machine-deployment/decide.ts";
export { deploymentProblems, observeMachineDeployment } from "./machine-deployment/observe.ts";
export type { NodeChange } from "./machine-deployment/state/node-patch.ts";
export { boundsOf } from "./machine-deployment/state/rollout-bounds.ts";
export type { RolloutGates } from "./machine-deployment/state/rollout-gates.ts";
export type { MachineDeploymentAction, MachineDeploymentSnapshot } from "./machine-deployment/state/snapshot.ts";
export { compareKeys, countWhere, machinesWhere, predicateFor, sortedBy } from "./machine-lists/machine-list.ts";
export type {
  KeyedMachine,
  MachineList,
  MachineLookup,
  MachinePredicate,
  MakePredicate,
  SortKeyOf,
} from "./machine-lists/machine-list.ts";
export { decideMachineSet } from "./machine-set/decide.ts";
export { newMachine } from "./machine-set/new-machine.ts";
export { machineSetSnapshot } from "./machine-set/observe.ts";
export type { MachineSetAction } from "./machine-set/snapshot.ts";
export type { DeletionScope, SetBudget } from "./model/deletion-budget.ts";
export { isProtected, protectedMachinesHold } from "./model/deletion-protection.ts";
export type { NodeConditionState } from "./model/node-condition.ts";
export { isAvailable, isDeleting, isPresent, markedStage } from "./model/phase.ts";
export { hasFreezeLabel } from "./safety/freeze-set.ts";
export { releaseAnnotation } from "./safety/released-machines.ts";
