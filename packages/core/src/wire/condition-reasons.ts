/**
 * Reasons of the legacy conditions. The cluster autoscaler lowers replicas only when Progressing is missing, True
 * `NewMachineSetAvailable` or Unknown `DeploymentPaused`; Gardener shows all of them to end users.
 * Source: MCM, `pkg/controller/deployment_machineset_util.go` calculateMachineSetStatus; MCM, `pkg/controller/deployment_sync.go` getNewMachineSet.
 */
export const legacyReasons = {
  minimumReplicasAvailable: "MinimumReplicasAvailable",
  minimumReplicasUnavailable: "MinimumReplicasUnavailable",
  newMachineSetCreated: "NewMachineSetCreated",
  foundNewMachineSet: "FoundNewMachineSet",
  machineSetUpdated: "MachineSetUpdated",
  newMachineSetAvailable: "NewMachineSetAvailable",
  progressDeadlineExceeded: "ProgressDeadlineExceeded",
  machineSetCreateError: "MachineSetCreateError",
  deploymentPaused: "DeploymentPaused",
  deploymentResumed: "DeploymentResumed",
  failedCreate: "FailedCreate",
  failedDelete: "FailedDelete",
  overshootingReplicaCount: "OverShootingReplicaCount",
  /** Ours, of Frozen: the set lost several machines because their labels no longer match its selector. */
  machinesReleased: "MachinesReleased",
  machineDeploymentStateSync: "MachineDeploymentStateSync",
} as const;

/** Reasons of Cluster API's conditions and of ours next to them. Read by people and tools. Source: Cluster API, `api/core/v1beta2/condition_consts.go`; Cluster API, `machinedeployment_rollout_planner.go`. */
export const clusterApiReasons = {
  available: "Available",
  notAvailable: "NotAvailable",
  availableUnknown: "AvailableUnknown",
  ready: "Ready",
  notReady: "NotReady",
  readyUnknown: "ReadyUnknown",
  upToDate: "UpToDate",
  notUpToDate: "NotUpToDate",
  upToDateUnknown: "UpToDateUnknown",
  rollingOut: "RollingOut",
  notRollingOut: "NotRollingOut",
  scalingUp: "ScalingUp",
  notScalingUp: "NotScalingUp",
  scalingDown: "ScalingDown",
  notScalingDown: "NotScalingDown",
  remediating: "Remediating",
  notRemediating: "NotRemediating",
  noReplicas: "NoReplicas",
  waitingForReplicasSet: "WaitingForReplicasSet",
  waitingForAvailableReplicasSet: "WaitingForAvailableReplicasSet",
  waitingForMinReadySeconds: "WaitingForMinReadySeconds",
  notYetReported: "NotYetReported",
  invalidConditionReported: "InvalidConditionReported",
  internalError: "InternalError",
  inspectionFailed: "InspectionFailed",
  connectionDown: "ConnectionDown",
  objectDoesNotExist: "ObjectDoesNotExist",
  objectDeleted: "ObjectDeleted",
  provisioned: "Provisioned",
  notProvisioned: "NotProvisioned",
  /** Ours. */
  initialized: "Initialized",
  /** Ours. */
  notInitialized: "NotInitialized",
  paused: "Paused",
  notPaused: "NotPaused",
  deleting: "Deleting",
  notDeleting: "NotDeleting",
  drainingNode: "DrainingNode",
  drained: "Drained",
  waitingForVolumeDetach: "WaitingForVolumeDetach",
  volumesDetached: "VolumesDetached",
  waitingForInfrastructureDeletion: "WaitingForInfrastructureDeletion",
  deletingNode: "DeletingNode",
  deletionCompleted: "DeletionCompleted",
  nodeReady: "NodeReady",
  nodeNotReady: "NodeNotReady",
  nodeReadyUnknown: "NodeReadyUnknown",
  nodeHealthy: "NodeHealthy",
  nodeNotHealthy: "NodeNotHealthy",
  nodeHealthyUnknown: "NodeHealthyUnknown",
  nodeDeleted: "NodeDeleted",
  nodeDoesNotExist: "NodeDoesNotExist",
  /** Ours. */
  nodeNotJoined: "NodeNotJoined",
  unhealthyNode: "UnhealthyNode",
  unhealthyMachine: "UnhealthyMachine",
  nodeStartupTimeout: "NodeStartupTimeout",
  waitingForRemediation: "WaitingForRemediation",
  cannotBeRemediated: "CannotBeRemediated",
  remediationDeferred: "RemediationDeferred",
  machineDeleting: "MachineDeleting",
  updating: "Updating",
  notUpdating: "NotUpdating",
  inPlaceUpdating: "InPlaceUpdating",
  inPlaceUpdateFailed: "InPlaceUpdateFailed",
} as const;

/** Reasons of our SpecValid condition: `InvalidSpec` with every problem in the message, or `Valid`. */
export const specValidReasons = { valid: "Valid", invalid: "InvalidSpec" } as const;

/** Reasons of our condition Ready of a deployment whose rollout waits as configured, or for something besides its machines. */
export const rolloutHoldReasons = {
  canaryFailed: "CanaryFailed",
  canaryPaused: "CanaryPaused",
  canaryStep: "CanaryStep",
  classUnusable: "ClassUnusable",
  machinesUnavailable: "MachinesUnavailable",
  nodesNotSelected: "NodesNotSelected",
  nodesUnread: "NodesUnread",
  onDelete: "OnDelete",
  windowClosed: "WindowClosed",
} as const;

/** Reason of our CRDsEstablished condition, which is present only while it is False. */
export const crdDeletedReason = "CRDDeleted";

/** Reasons of our condition DeletionProtected, which is present only while it is True. */
export const deletionProtectedReasons = {
  /** The object is being deleted, and the annotation of it, or of its MachineDeployment, keeps it with all its machines. */
  objectProtected: "ObjectProtected",
  /** Machines would be deleted, and their own annotations keep them. */
  machinesProtected: "MachinesProtected",
} as const;

/** Reasons of our DeletionsHeld condition, which is present only while it is True: a person has to approve, the rate allows no more at the moment, or what is approved has a pace. */
export const deletionsHeldReasons = {
  approvalRequired: "ApprovalRequired",
  rateLimited: "RateLimited",
  paced: "Paced",
} as const;

/** Ours, of the conditions WriteRefused and Progressing: the API server refuses a patch or a deletion. */
export const writeRefusedReason = "WriteRefused";

/** Ours, of the condition Conflict: another Machine has precedence for the VM. */
export const vmOfOtherMachineReason = "VMOfOtherMachine";
