// The Machine API: its kinds, and each label, annotation, phase, condition, text and metric that another program reads.
export { crds } from "../api/kinds/crd.ts";
export type { CustomResourceDefinition, PrinterColumn, Subresources } from "../api/kinds/crd.ts";
export {
  orchestrationTypes,
  strategyTypeOf,
  strategyTypes,
  withMachineDeploymentDefaults,
  withMachineSetDefaults,
} from "../api/kinds/defaults.ts";
export type {
  DefaultedFenceposts,
  DefaultedMachineDeployment,
  DefaultedMachineSet,
  DefaultedStrategy,
} from "../api/kinds/defaults.ts";
export { machineClassResource } from "../api/kinds/machine-class.ts";
export type { MachineClass, NodeTemplate, SecretReference } from "../api/kinds/machine-class.ts";
export { machineDeploymentResource, readSizeLimits, surgeOf } from "../api/kinds/machine-deployment.ts";
export type {
  MachineDeployment,
  MachineDeploymentCondition,
  MachineDeploymentSpec,
  MachineDeploymentStatus,
  MachineDeploymentStrategy,
  SizeLimits,
} from "../api/kinds/machine-deployment.ts";
export { machineKinds } from "../api/kinds/machine-kinds.ts";
export type { MachineKind } from "../api/kinds/machine-kinds.ts";
export { machineSetResource } from "../api/kinds/machine-set.ts";
export type { MachineSet, MachineSetCondition, MachineSetSpec, MachineSetStatus } from "../api/kinds/machine-set.ts";
export type { ClassReference, MachineSpec, MachineTemplate } from "../api/kinds/machine-spec.ts";
export { machineResource } from "../api/kinds/machine.ts";
export type {
  CurrentStatus,
  Machine,
  MachineHistoryEntry,
  MachineStatus,
  NodeCondition,
} from "../api/kinds/machine.ts";
export type { NodeTemplateSpec, Taint } from "../api/kinds/node-template.ts";
export { controllerOf } from "../api/kinds/object-meta.ts";
export type { ObjectMeta, OwnerReference, TemplateMeta } from "../api/kinds/object-meta.ts";
export type { LastOperation, MachineSummary } from "../api/kinds/operation.ts";
export { machineApiVersion, machineGroup } from "../api/kinds/resource-type.ts";
export { formatProblems, joinPath } from "../api/problems/field-problem.ts";
export type { FieldProblem, FieldProblemKind } from "../api/problems/field-problem.ts";
export { readNodeTemplateSpec } from "../api/reading/read-node-template.ts";
export { readMachine, readMachineClass, readMachineDeployment, readMachineSet } from "../api/reading/read.ts";
export type { ReadResult } from "../api/reading/read.ts";
export type { DeepReadonly } from "../api/schema/deep-readonly.ts";
export type { StructuralSchema } from "../api/schema/structural-schema.ts";
export { validateMachineClass } from "../api/validation/validate-machine-class.ts";
export { validateMachineDeployment } from "../api/validation/validate-machine-deployment.ts";
export { validateMachineSet } from "../api/validation/validate-machine-set.ts";
export { validateMachine } from "../api/validation/validate-machine.ts";
export { validateObjectMeta } from "../api/validation/validate-object-meta.ts";
export { machineNameIn } from "../api/values/child-names.ts";
export { readDrainRules } from "../api/values/drain-rules.ts";
export type { DrainRule, ReadDrainRulesResult } from "../api/values/drain-rules.ts";
export { parseIntOrPercent, readIntOrPercent, resolveFenceposts } from "../api/values/fenceposts.ts";
export type { Fenceposts, IntOrPercent, ParsedIntOrPercent, ResolvedFenceposts } from "../api/values/fenceposts.ts";
export type { LabelSelector, LabelSelectorRequirement } from "../api/values/label-selector-schema.ts";
export {
  matchesLabels,
  parseLabelSelector,
  selectorMatches,
  selectsEverything,
  unmetRequirements,
} from "../api/values/label-selector.ts";
export type { LabelMatcher, LabelRequirement, ParseLabelSelectorResult } from "../api/values/label-selector.ts";
export { isSameQuantity } from "../api/values/quantity.ts";
export { causeKey, uniqueCauses } from "../operation/drain-causes.ts";
export { machineCause } from "../operation/machine-cause.ts";
export { isNextAttempt, isReported, newOperation } from "../operation/new-operation.ts";
export type { OperationUpdate } from "../operation/new-operation.ts";
export type {
  DeletionHold,
  DrainCause,
  OperationAttempts,
  OperationDetails,
  OperationReason,
} from "../operation/operation-details.ts";
export { detailsOf, drainResult, eventsText, holdText, renderOperation } from "../operation/operation-events.ts";
export type { FailureEvent, HoldEvent, OperationEvent, OperationEvents } from "../operation/operation-events.ts";
export { readOperation } from "../operation/read-operation.ts";
export {
  annotationKeys,
  annotationsNotInheritedBySets,
  defaultMachinePriority,
  deletionMachinePriority,
  ignoredRequest,
  preserveValues,
  writtenClassAnnotations,
} from "../wire/annotations.ts";
export {
  clusterApiReasons,
  crdDeletedReason,
  deletionProtectedReasons,
  deletionsHeldReasons,
  writeRefusedReason,
  legacyReasons,
  rolloutHoldReasons,
  specValidReasons,
  vmOfOtherMachineReason,
} from "../wire/condition-reasons.ts";
export {
  clusterApiConditionTypes,
  conditionOrder,
  conditionStatuses,
  summaryConditionTypes,
  legacyConditionTypes,
  machineConditionTypes,
  crdsEstablishedConditionType,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
  writeRefusedConditionType,
  specValidConditionType,
  conflictConditionType,
  severalNodesConditionType,
  isNodeConditionType,
  storedMachineConditionTypes,
} from "../wire/condition-types.ts";
export type { ConditionStatus } from "../wire/condition-types.ts";
export { controllerInfos, controllerNames, leaseNames, leasesOf, selectControllers } from "../wire/controllers.ts";
export type { ControllerInfo, ControllerName, LeaseName } from "../wire/controllers.ts";
export type { AdmissionObject } from "../wire/admission-policies.ts";
export { deletionBudgetPolicy, deletionProtectionPolicy } from "../wire/admission-policies.ts";
export { deletionStages, markerOf, otherMarkers, splitAtStage, stageOf } from "../wire/deletion-stages.ts";
export type { DeletionStage } from "../wire/deletion-stages.ts";
export { eventReasons, machineEventReasons } from "../wire/event-reasons.ts";
export { finalizers } from "../wire/finalizers.ts";
export { isGoTrue } from "../wire/go-boolean.ts";
export { trueLabel, labelKeys, updateResults } from "../wire/labels.ts";
export {
  cacheMetricNames,
  cloudMetricNames,
  controllerMetricNames,
  machineDeploymentMetricNames,
  machineFlowMetricNames,
  machineMetricNames,
  machineSetMetricNames,
  nodejsMetricNames,
  ownMetricNames,
  processMetricNames,
  requestMetricNames,
} from "../wire/metric-names.ts";
export {
  defaultNodeConditions,
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  nodeConditionTypes,
  preservedMessages,
  preservedReasons,
  terminatingReasons,
} from "../wire/node-conditions.ts";
export {
  continueWith,
  createdMachine,
  waitingForNode,
  deletingMachine,
  deletionEvents,
  healthTimedOut,
  healthTimeoutReset,
  hiddenVm,
  initializeFailed,
  provisioningTimedOut,
  provisioningVm,
  staleVmDeletionPending,
  staleVmNotDeleted,
  waitingForClass,
  waitingForOtherMachines,
  joinOnHold,
  joinTimedOut,
  writeRefused,
  writesAccepted,
  joinUnknown,
  joined,
  deletionTimeIn,
  keptByFinalizers,
  machineDeleted,
  nodeMissing,
  nodeOfAnotherVm,
  nodeOlderThanMachine,
  answeredVmOfOtherMachine,
  onlyObjectDeleted,
  vmMissing,
  vmOfOtherMachine,
  nodeUnhealthy,
  providerMessage,
  rejoined,
  remediationOnHold,
  spotInterrupted,
  remediationHolds,
  severalNodes,
  staleNode,
  unknownNodeName,
  unusableNodeName,
  updateInPlaceFailed,
  updateInPlaceTimedOut,
  updatedInPlace,
  updatingInPlace,
} from "../wire/operation-texts.ts";
export { operationStates, operationTypes } from "../wire/operations.ts";
export type { OperationState, OperationType } from "../wire/operations.ts";
export { allowsTransition, phaseTransitions } from "../wire/phase-transitions.ts";
export type { PhaseTransition } from "../wire/phase-transitions.ts";
export { phaseGuide } from "../wire/phase-guide.ts";
export type { PhaseGuide } from "../wire/phase-guide.ts";
export { isMachinePhase, phaseOf, phases } from "../wire/phases.ts";
export type { MachinePhase } from "../wire/phases.ts";
export { requiredPermissions, requiredRoles } from "../wire/required-permissions.ts";
export type { RequiredPermission, PermissionsRole } from "../wire/required-permissions.ts";
export { bootstrapToken, containsPlaceholder, userDataPlaceholders } from "../wire/secrets.ts";
export { interruptionTaints, isStartupTaint, taintEffects, taintKeys } from "../wire/taints.ts";
