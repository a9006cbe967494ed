/** Reasons of events on MachineSets, MachineDeployments, MachineClasses and Secrets. Read by people and by alerting. Source: MCM, `pkg/controller/metrics.go`. */
export const eventReasons = {
  /** Normal, on MachineSets: a Machine was created. */
  successfulCreate: "SuccessfulCreate",
  /** Warning, on MachineSets: the API server rejected the creation of a Machine. */
  failedCreate: "FailedCreate",
  /** Normal, on MachineSets: the deletion of a Machine was requested. */
  successfulDelete: "SuccessfulDelete",
  /** Ours, Normal, on MachineSets that are deleted: the deletion of a Machine was requested, and may still be held. */
  deletionRequested: "DeletionRequested",
  /** Warning, on MachineSets: the API server rejected the deletion of a Machine. */
  failedDelete: "FailedDelete",
  /** Ours, Warning, on MachineSets and MachineDeployments: the labels of a machine, or of a set, no longer match the selector; it is released, and keeps its VM or machines. */
  released: "Released",
  /** Normal, on MachineSets: it has too many machines and creates no more. */
  frozeMachineSet: "FrozeMachineSet",
  /** Normal, on MachineSets: it may create machines again. */
  unfrozeMachineSet: "UnfrozeMachineSet",
  /** Normal, on MachineDeployments: the replicas of a MachineSet changed; the message names the set. */
  scalingMachineSet: "ScalingMachineSet",
  /** Normal, on MachineDeployments: the template of an earlier revision was restored. */
  deploymentRollback: "DeploymentRollback",
  /** Warning, on MachineDeployments: there is no MachineSet of the revision to roll back to. */
  rollbackRevisionNotFound: "DeploymentRollbackRevisionNotFound",
  /** Warning, on MachineDeployments: the revision to roll back to has the current template. */
  rollbackTemplateUnchanged: "DeploymentRollbackTemplateUnchanged",
  /** Warning, on MachineDeployments: the API server rejected the creation of a MachineSet. */
  machineSetCreateError: "MachineSetCreateError",
  /** MCM records it on MachineDeployments whose selector is empty. Here such a selector is rejected: `InvalidSpec`. */
  selectingAll: "SelectingAll",
  /** Ours, on MachineDeployments: nodes may be drained and updated in place; the message names their machines. */
  selectedForUpdate: "SelectedForUpdate",
  /** Ours, on MachineDeployments: machines that were updated in place belong to the set of the new template; the message names them. */
  machinesHandedOver: "MachinesHandedOver",
  /** Ours, on MachineDeployments: a machine of the new template failed in a rollout with steps, which stops; the message names it. */
  canaryFailed: "CanaryFailed",
  /** Ours: the spec is invalid; the condition SpecValid has the details. */
  invalidSpec: "InvalidSpec",
  /** Ours, Warning, on MachineSets and MachineDeployments: paused because the CRD of their kind, or of what they own, is being deleted. */
  crdDeleted: "CRDDeleted",
  /** Ours, Warning, on MachineSets and MachineDeployments: deletion protection keeps the object or machines of it; the message names them and what to do. */
  deletionProtected: "DeletionProtected",
  /** Ours, Warning, on the Namespace: the API server went back to an earlier state; the message names the cluster and what showed it. */
  apiServerWentBack: "APIServerWentBack",
  /** Ours, Warning, on the Namespace, every ten minutes: the clock of the controllers differs from that of an API server by more than five seconds; the message names the cluster. */
  clockSkew: "ClockSkew",
  /** Ours, Normal, on the Namespace: the clocks agree again. */
  clockSkewEnded: "ClockSkewEnded",
  /** Ours, Warning, on MachineSets: machines are missing since the API server went back to an earlier state, or were not restored with their set, and are not replaced; the message has their number. */
  machinesVanished: "MachinesVanished",
  /** Ours, Warning, on MachineDeployments, and on MachineSets and Machines without one: deletions exceed the deletion budget and are held, or creations of machines whose VMs may exist already; the message names how many and how to approve. */
  deletionsHeld: "DeletionsHeld",
  /** Warning: a MachineDeployment without `spec.replicas` counts as one with 0; the message contains what keeps its size. */
  waitingForReplicasSet: "WaitingForReplicasSet",
  /** Ours, Warning, on objects of all our kinds, Secrets and Nodes: the API server refuses a write of this object, or one that its reconcile depends on; the message has verb, kind, name and the answer. */
  writeRefused: "WriteRefused",
  /** Ours, Warning, on objects of all our kinds: an annotation of Cluster API, such as a hook or a pause, has no effect; once for each object and key. The message names what has. */
  annotationIgnored: "AnnotationIgnored",
  /** Ours, on MachineClasses and Secrets: deletion is requested while other objects still refer to it; the message names them. */
  stillInUse: "StillInUse",
  /** Ours, Warning, on MachineClasses and the MachineSets and MachineDeployments that refer to them: no machine of the class can be created; the message lists all problems. Existing machines are deleted nevertheless. */
  invalidMachineClass: "InvalidMachineClass",
  /** Ours, Warning, on MachineClasses: the driver ignores keys of `providerSpec`; the message names them, and what was probably meant. */
  unknownKeys: "UnknownKeys",
  /** Ours, Normal, on MachineClasses: `nodeTemplate` was filled in with the values of the cloud; the message names the instance type. */
  filledNodeTemplate: "FilledNodeTemplate",
  /** Ours, Warning, on MachineClasses: the cloud refuses the calls with the credential of the class; they are held back, and one at a time retries. The message has the code. */
  credentialRefused: "CredentialRefused",
  /** Ours, Normal, on MachineClasses: calls with the credential of the class are no longer held back. */
  credentialAccepted: "CredentialAccepted",
  /** Ours, Warning, on MachineClasses: calls with the credential of the class are held back, since its cloud limits requests, or does not answer. They are repeated; nothing has to be changed. */
  cloudUnavailable: "CloudUnavailable",
  /** Ours, Normal, on MachineClasses: the cloud of the class answers again. */
  cloudAvailable: "CloudAvailable",
  /** Ours, Warning, on MachineClasses: the VMs of the class could not be listed; the message starts with the code. Repeated every 30 minutes. */
  failedListVms: "FailedListVMs",
  /** Ours, Normal, on MachineClasses: the VMs of the class can be listed again. */
  listedVms: "ListedVMs",
  /** Ours, Warning, on MachineClasses: the cloud lists no VMs of most machines of the class, which suggests that the class or its credentials changed. */
  vmsNotListed: "VMsNotListed",
  /** Ours, Warning, on MachineClasses: a VM has no Machine; the message names the VM, and when it will be deleted. */
  orphanVmFound: "OrphanVMFound",
  /** Ours, Normal, on MachineClasses: the Node of a VM without Machine is drained before the VM is deleted; the message names both. */
  orphanVmDraining: "OrphanVMDraining",
  /** Ours, Normal, on MachineClasses: that drain has ended; the message names how. */
  orphanVmDrained: "OrphanVMDrained",
  /** Ours, Normal, on MachineClasses: a VM without Machine was deleted. */
  orphanVmDeleted: "OrphanVMDeleted",
  /** Ours, Warning, on MachineClasses: a VM without Machine could not be deleted; the message names the reason. */
  orphanVmNotDeleted: "OrphanVMNotDeleted",
  /** Ours, Warning, on MachineClasses: there is no `nodeTemplate`, and the driver could not determine it; the message starts with the code. */
  nodeTemplateUnknown: "NodeTemplateUnknown",
} as const;

/** Reasons of events on Machines; all are ours, for MCM has none. Read by people and by alerting. */
export const machineEventReasons = {
  /** Normal: the driver made the VM. */
  createdVm: "CreatedVM",
  /** Normal: the infrastructure has accepted the creation of the VM and is still provisioning it; the message is the driver's. */
  provisioningVm: "ProvisioningVM",
  /** Normal: the VM of an earlier attempt was found. */
  adoptedVm: "AdoptedVM",
  /** Warning: the driver returned no node name, or one that cannot be the label `node`; the Node is found by its provider id only. */
  unusableNodeName: "UnusableNodeName",
  /** Warning: the driver cannot report the name of the node; the deletion continues without a drain. */
  vmStatusUnknown: "VMStatusUnknown",
  /** Normal: the node is ready for the first time. */
  nodeJoined: "NodeJoined",
  /** Normal: the node is ready again. */
  nodeHealthy: "NodeHealthy",
  /** Normal: a deletion stage completed; the message names the result and the next stage, the last message the duration of the deletion. */
  deleting: "Deleting",
  /** Warning: the VM came up under the name of an existing Node of something else; it is deleted, and the machine Failed. */
  staleNode: "StaleNode",
  /** Warning: the VM could not be initialized; the message starts with the code. */
  failedInitializeVm: "FailedInitializeVM",
  /** Warning: the driver failed; the message starts with the code. */
  failedCreateVm: "FailedCreateVM",
  /** Warning: the node did not join within the creation timeout. */
  joinTimedOut: "JoinTimedOut",
  /** Warning: the Node object of a Running machine does not exist. */
  nodeMissing: "NodeMissing",
  /** Warning: a condition of the node is bad; the message names it. */
  nodeUnhealthy: "NodeUnhealthy",
  /** Warning: the VM of a Running machine does not exist, whatever its node reports. */
  vmMissing: "VMMissing",
  /** Normal: the node is drained, the agent on it may update it. */
  inPlaceUpdating: "InPlaceUpdating",
  /** Normal: the agent on the node reports success. */
  inPlaceUpdated: "InPlaceUpdated",
  /** Warning: the agent on the node reports failure, or nothing within the timeout. */
  inPlaceUpdateFailed: "InPlaceUpdateFailed",
  /** Normal: the machine is preserved; the message contains until when and why. */
  preserved: "Preserved",
  /** Normal: the node of a preserved Failed machine is empty. */
  preservedNodeDrained: "PreservedNodeDrained",
  /** Warning: pods do not leave the node of a preserved Failed machine; the message names them. */
  preservedNodeNotDrained: "PreservedNodeNotDrained",
  /** Normal: the machine is no longer preserved; the message contains why. */
  preservationStopped: "PreservationStopped",
  /** Warning: the preserve annotation has an unsupported value; the message lists the supported ones. */
  invalidPreserveValue: "InvalidPreserveValue",
  /** Warning: the node that the machine names has the provider id of another VM and is not adopted. */
  providerIdMismatch: "ProviderIDMismatch",
  /** Warning: the VM of this machine is that of another Machine, which the message names; of this one only the object will be deleted. */
  vmConflict: "Conflict",
  /** Normal: the node is being deleted, which requests the replacement of the machine; it is deleted, too. */
  nodeDeleted: "NodeDeleted",
  /** Warning: the node was unhealthy for the health timeout; the machine is Failed and will be replaced. */
  healthTimedOut: "HealthTimedOut",
  /** Warning: the cloud will reclaim the VM, as a taint of the node shows; the machine is Failed and will be replaced. */
  spotInterrupted: "SpotInterrupted",
  /** Normal: the health or creation timeout has passed; the remediation budget of the deployment is used by other machines. */
  remediationDeferred: "RemediationDeferred",
  /** Warning: the health or creation timeout has passed; remediation is paused because the unhealthy machines suggest an outage. */
  remediationPaused: "RemediationPaused",
  /** Normal: the health timeout restarts because the API server was unreachable. */
  healthTimeoutReset: "HealthTimeoutReset",
  /** Warning: a deletion stage failed and will be retried. */
  deletionBlocked: "DeletionBlocked",
  /** Warning: the deletion is paused because the CRD of one of our kinds is being deleted, or because of deletion protection; the VM is kept. The message names what to do. */
  deletionPaused: "DeletionPaused",
  /** Warning: a drain is blocked until a user acts, or the API server rejects a request; once for each cause. */
  drainBlocked: "DrainBlocked",
  /** Warning: a drain ended although volumes of evicted pods are still attached to the node; the message names them. */
  volumesAttached: "VolumesAttached",
  /** Warning: a forced deletion ended without deleting its Node, because the API server of the nodes is unreachable; the message names the Node. */
  nodeNotDeleted: "NodeNotDeleted",
  /** Warning: the rules of an ordered drain cannot be read; drains ignore them. */
  invalidDrainRules: "InvalidDrainRules",
  /** Warning: the spec of the machine is invalid; the message lists all problems. */
  invalidMachine: "InvalidMachine",
  /** Warning: the class does not exist. */
  machineClassNotFound: "MachineClassNotFound",
  /** Warning: the class is invalid; the message lists all problems. */
  invalidMachineClass: "InvalidMachineClass",
  /** Warning: no loaded driver has the name in the class's `provider`. */
  driverNotFound: "DriverNotFound",
  /** Warning: a Secret of the class does not exist. */
  secretNotFound: "SecretNotFound",
  /** Warning: the Secrets of the class have no key `userData`. */
  invalidSecret: "InvalidSecret",
  /** Warning: a last-applied annotation of the node cannot be parsed and will be reset. */
  invalidLastAppliedAnnotation: "InvalidLastAppliedAnnotation",
  /** Warning: another client removes a taint of the template from the node, or changes it, again and again; the message names both. */
  taintRemoved: "TaintRemoved",
  /** Warning: the node of a pool that a cluster autoscaler scales registered without the startup taint that keeps pods off until its labels and taints are there; the message names the taint. */
  nodeWithoutStartupTaint: "NodeWithoutStartupTaint",
  /** Warning: the node of this machine belongs to another machine; the message names it. */
  nodeClaimedTwice: "NodeClaimedTwice",
  /** Warning: several Nodes are proven to be the VM's, as after a change of its host name; the message names them, and the one that counts. */
  severalNodes: "SeveralNodes",
} as const;
