export { createControlCaches, createTargetCaches } from "./cluster/caches.ts";
export type { CacheOptions, ControlCaches, TargetCaches } from "./cluster/caches.ts";
export type { ControllerContext, Target } from "./cluster/context.ts";
export type { MatchVm } from "./model/pick-node.ts";
export { shapeProblemsOf } from "./cluster/readable.ts";
export { createCrdGuard } from "./crd-guard/crd-guard.ts";
export type { CrdGuard } from "./model/crd-guard.ts";
export { findHold, isHeld, recordedHold } from "./guards/find-hold.ts";
export { countHeld } from "./guards/held-objects.ts";
export type { Guard, Hold } from "./model/hold.ts";
export { isKnownRejected } from "./model/creation-intent.ts";
export { createDeletionBudget } from "./deletion-budget/deletion-budget.ts";
export type { BudgetRoom, DeletionBudget, DeletionCause } from "./model/deletion-budget.ts";
export type { VmCensus } from "./model/vm-census.ts";
export { createSecretController } from "./secret/controller.ts";
export { createClassChecks } from "./cluster/class-checks.ts";
export { createMachineClassController } from "./machine-class/controller.ts";
export { createForeignAnnotationController } from "./foreign-annotations/controller.ts";
export { createClassStatusController } from "./machine-class/status-controller.ts";
export { createCapacityController } from "./machine-class/capacity-controller.ts";
export type { CapacityController } from "./machine-class/capacity-controller.ts";
export type { CapacityDriver } from "./machine-class/capacity-driver.ts";
export { createMachineDeploymentController } from "./machine-deployment/controller.ts";
export { createMachineSetController } from "./machine-set/controller.ts";
export { defaultOvershootMargins } from "./safety/overshoot-limits.ts";
export type { OvershootMargins } from "./safety/overshoot-limits.ts";
export { createMachineController } from "./machine/controller.ts";
export type { MachineController, MachineControllerOptions } from "./machine/controller.ts";
export { remediationGroupOf } from "./model/remediation-budget.ts";
export type {
  CallOutcome,
  ClassCall,
  ClassProblem,
  CreateVmCall,
  DriverOutcome,
  MachineDriver,
  VmCall,
  VmListDriver,
} from "./model/driver-port.ts";
export { unmanagedNodeControllers } from "./unmanaged-nodes/controller.ts";
export { collectOrphans } from "./orphans/collector.ts";
export { createOrphanNodeController } from "./orphans/node-controller.ts";
export { createVmCensus } from "./orphans/vm-census.ts";
export { readQuarantine } from "./orphans/quarantine.ts";
export type { OrphanMode, OrphanOptions } from "./orphans/collector.ts";
export { createVmLists } from "./vm-lists/vm-lists.ts";
export type { VmList, VmLists, VmListTimes } from "./vm-lists/vm-lists.ts";
export { createMissingVms } from "./vm-lists/missing-vms.ts";
export { createVmOwners } from "./vm-lists/vm-owners.ts";
export type { MissingVms } from "./vm-lists/missing-vms.ts";
export { backoffBounds } from "./model/retry.ts";
export type { BackoffBounds } from "./model/retry.ts";
export type { OperationKind, OperationResult, PendingOperation } from "./model/operation.ts";
export type { Live } from "./model/live.ts";
export { defaultMachineSettings } from "./model/machine-settings.ts";
export type { MachineSettings } from "./model/machine-settings.ts";
export type { Budget, Claim, Node, Pod, Volume, VolumeAttachment } from "./model/node-objects.ts";
export { markedStage } from "./model/phase.ts";
export { isProtected, protectorOf } from "./model/deletion-protection.ts";
export { ownersOfMachine } from "./cluster/owners-of-machine.ts";
export { trimNode } from "./cluster/trim-node.ts";
export { trimPod } from "./cluster/trim-pod.ts";
export type { Operations } from "./machine/operations/operations.ts";
