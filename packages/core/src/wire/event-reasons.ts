/** Reasons of events on MachineSets, MachineDeployments, MachineClasses and Secrets. Read by people and by alerting. Source: MCM, `pkg/controller/metrics.go`. */
export const eventReasons = {
  successfulCreate: "SuccessfulCreate",
  failedCreate: "FailedCreate",
  successfulDelete: "SuccessfulDelete",
  failedDelete: "FailedDelete",
  frozeMachineSet: "FrozeMachineSet",
  unfrozeMachineSet: "UnfrozeMachineSet",
  scalingMachineSet: "ScalingMachineSet",
  deploymentRollback: "DeploymentRollback",
  rollbackRevisionNotFound: "DeploymentRollbackRevisionNotFound",
  rollbackTemplateUnchanged: "DeploymentRollbackTemplateUnchanged",
  machineSetCreateError: "MachineSetCreateError",
  selectingAll: "SelectingAll",
  /** Ours, on MachineDeployments: nodes may be drained and updated in place; the message names their machines. */
  selectedForUpdate: "SelectedForUpdate",
  /** Ours, on MachineDeployments: machines that were updated in place belong to the set of the new template; the message names them. */
  machinesHandedOver: "MachinesHandedOver",
  /** Ours, on MachineDeployments: a machine of the new template failed in a rollout with steps, which stops; the message names it. */
  canaryFailed: "CanaryFailed",
  /** Ours: the controller refuses the spec; the condition SpecValid has the details. */
  invalidSpec: "InvalidSpec",
  /** Ours, Warning, on MachineSets and MachineDeployments: the definition of their kind, or of what they own, is being deleted; they stand still. */
  definitionDeleted: "DefinitionDeleted",
  /** Ours, on MachineClasses and Secrets: somebody deletes what others still refer to; the message names them. */
  stillInUse: "StillInUse",
  /** Ours, Normal, on MachineClasses: `nodeTemplate` was filled in with what the cloud says; the message names the instance type. */
  filledNodeTemplate: "FilledNodeTemplate",
  /** Ours, Warning, on MachineClasses: there is no `nodeTemplate`, and the driver could not say what it would be; the message starts with the code. */
  nodeTemplateUnknown: "NodeTemplateUnknown",
} as const;

/** Reasons of events on Machines; all are ours, for MCM has none. Read by people and by alerting. */
export const machineEventReasons = {
  /** Normal: the driver made the VM. */
  createdVm: "CreatedVM",
  /** Normal: the infrastructure has accepted the creation of the VM and takes its time; the message is the driver's. */
  provisioningVm: "ProvisioningVM",
  /** Normal: the VM of an earlier attempt was found. */
  adoptedVm: "AdoptedVM",
  /** Normal: the node is ready for the first time. */
  nodeJoined: "NodeJoined",
  /** Normal: the node is ready again. */
  nodeHealthy: "NodeHealthy",
  /** Normal: a deletion went a step on; the message says what happened and which stage is next, the last one how long all of it took. */
  deleting: "Deleting",
  /** Warning: the VM came up under the name of an existing Node of something else; it is deleted, and the machine Failed. */
  staleNode: "StaleNode",
  /** Warning: the VM could not be initialized; the message starts with the code. */
  failedInitializeVm: "FailedInitializeVM",
  /** Warning: the driver failed; the message starts with the code. */
  failedCreateVm: "FailedCreateVM",
  /** Warning: the node did not join within the creation timeout. */
  joinTimedOut: "JoinTimedOut",
  /** Warning: the Node object of a Running machine is gone. */
  nodeMissing: "NodeMissing",
  /** Warning: a condition of the node is bad; the message names it. */
  nodeUnhealthy: "NodeUnhealthy",
  /** Normal: the node is drained, the agent on it may update it. */
  inPlaceUpdating: "InPlaceUpdating",
  /** Normal: the agent on the node reports success. */
  inPlaceUpdated: "InPlaceUpdated",
  /** Warning: the agent on the node reports failure, or nothing within the timeout. */
  inPlaceUpdateFailed: "InPlaceUpdateFailed",
  /** Normal: the machine is preserved; the message says until when and why. */
  preserved: "Preserved",
  /** Normal: the node of a preserved Failed machine is empty. */
  preservedNodeDrained: "PreservedNodeDrained",
  /** Warning: pods do not leave the node of a preserved Failed machine; the message names them. */
  preservedNodeNotDrained: "PreservedNodeNotDrained",
  /** Normal: the machine is not preserved any more; the message says why. */
  preservationStopped: "PreservationStopped",
  /** Warning: the preserve annotation has a value that means nothing; the message names those that do. */
  invalidPreserveValue: "InvalidPreserveValue",
  /** Warning: the node that the machine names has the provider id of another VM; it is not taken for the machine's. */
  nodeOfAnotherVm: "NodeOfAnotherVM",
  /** Normal: somebody deletes the node, which is the wish to have the machine replaced; it is deleted, too. */
  nodeDeleted: "NodeDeleted",
  /** Warning: the node was unhealthy for the health timeout; the machine is Failed and will be replaced. */
  healthTimedOut: "HealthTimedOut",
  /** Normal: the health timeout has passed, and other machines of the deployment are being replaced first. */
  replacementWaiting: "ReplacementWaiting",
  /** Warning: the health timeout has passed, and nothing is replaced because what we see looks like an outage. */
  repairSuspended: "RepairSuspended",
  /** Normal: the health timeout starts anew because the API server could not be reached meanwhile. */
  healthTimeoutReset: "HealthTimeoutReset",
  /** Warning: a deletion stage failed; it is tried again. */
  deletionBlocked: "DeletionBlocked",
  /** Warning: the machine is on its way out because a definition of our kinds was deleted; its VM stays. The message has the remedy. */
  deletionHeld: "DeletionHeld",
  /** Warning: something holds a drain up that needs a person, or the API server refuses; told once for each cause. */
  drainBlocked: "DrainBlocked",
  /** Warning: the rules of an ordered drain cannot be read; drains ignore them. */
  invalidDrainRules: "InvalidDrainRules",
  /** Warning: the machine's own spec cannot be followed; the message has all problems. */
  invalidMachine: "InvalidMachine",
  /** Warning: the class does not exist. */
  machineClassNotFound: "MachineClassNotFound",
  /** Warning: the class cannot be followed; the message has all problems. */
  invalidMachineClass: "InvalidMachineClass",
  /** Warning: no loaded driver has the name in the class's `provider`. */
  noDriver: "NoDriver",
  /** Warning: a Secret of the class does not exist. */
  secretNotFound: "SecretNotFound",
  /** Warning: the Secrets of the class have no key `userData`. */
  invalidSecret: "InvalidSecret",
  /** Warning: an annotation of the node that says what was applied last is no JSON of the expected shape; it is written anew. */
  lastAppliedUnreadable: "LastAppliedUnreadable",
  /** Warning: another machine has a better claim to the node of this one; the message names it. */
  nodeClaimedTwice: "NodeClaimedTwice",
} as const;
