/**
 * Condition types of `MachineDeployment.status.conditions` and `MachineSet.status.machineSetCondition` that MCM writes.
 * Gardener requires Available=True, Progressing not False, and ReplicaFailure and Frozen absent or False; the cluster
 * autoscaler reads Progressing. Source: MCM, `pkg/apis/machine/v1alpha1/machinedeployment_types.go`; MCM, `pkg/controller/deployment_progress.go`.
 */
export const legacyConditionTypes = {
  /** MachineDeployment: enough available replicas. */
  available: "Available",
  /** MachineDeployment: the rollout advances, is complete, stuck or paused. */
  progressing: "Progressing",
  /** MachineDeployment and MachineSet: machines could not be created or deleted; absent when all is well. */
  replicaFailure: "ReplicaFailure",
  /** MachineDeployment and MachineSet: overshooting protection stopped the creation of machines; absent when all is well. */
  frozen: "Frozen",
} as const;

/**
 * Condition types of Cluster API that MachineDeployments carry next to the legacy ones; MachineSets carry them without
 * RollingOut and Paused. Read by people and by `kubectl wait`. Source: Cluster API, `machinedeployment_status.go`; Cluster API, `machineset_controller_status.go`.
 */
export const clusterApiConditionTypes = {
  /** True while machines are not up to date. */
  rollingOut: "RollingOut",
  /** True while failed machines are being replaced. */
  remediating: "Remediating",
  /** True while there are more machines than desired. */
  scalingDown: "ScalingDown",
  /** True while there are fewer machines than desired; the message names what blocks it. */
  scalingUp: "ScalingUp",
  /** Aggregate of the readiness of all machines. */
  machinesReady: "MachinesReady",
  /** Aggregate over all machines: their set's template is the deployment's. */
  machinesUpToDate: "MachinesUpToDate",
  /** MachineDeployment: spec.paused. */
  paused: "Paused",
  /** True while the object is being deleted. */
  deleting: "Deleting",
} as const;

/**
 * Ours, of MachineDeployments and MachineSets: what all other conditions amount to. Read by kstatus, so by Flux and by `helm --wait`, by `kubectl wait`, and by the columns of `kubectl get`. Source:
 * kubernetes-sigs/cli-utils, `pkg/kstatus/README.md`.
 */
export const summaryConditionTypes = {
  /** Always present. Its reason is that of Reconciling or Stalled. */
  ready: "Ready",
  /** The machines are not yet as the spec has them. Only while it is True, and Stalled is absent. */
  reconciling: "Reconciling",
  /** A person has to act. Only while it is True. */
  stalled: "Stalled",
} as const;

/** Our addition: False while the spec is invalid; the message lists all problems. Read by people. */
export const specValidConditionType = "SpecValid";

/**
 * Our addition: False while a MachineSet or MachineDeployment is paused because the CustomResourceDefinition of its kind, or of what it owns, is being deleted;
 * absent otherwise. The message names the CRD and what to do. Read by people.
 */
export const crdsEstablishedConditionType = "CRDsEstablished";

/**
 * Our addition: True while a MachineSet or MachineDeployment, or machines of it that would be deleted, are kept by the annotation `machine.millwright.dev/deletion-protection`; absent otherwise. The
 * message names them. Read by people and by `kubectl wait`.
 */
export const deletionProtectedConditionType = "DeletionProtected";

/**
 * Our addition: True while deletions of machines of a MachineSet or MachineDeployment are held because they exceed the deletion budget, or creations
 * because their VMs may exist already; absent otherwise. The message has their
 * number, whose budget it is and how to approve them. Read by people and by alerting.
 */
export const deletionsHeldConditionType = "DeletionsHeld";

/**
 * Our addition: True while the API server refuses a write that the reconcile of a MachineSet or MachineDeployment depends on, as a webhook, a policy or a quota does; absent otherwise. The message has verb, kind, name and the
 * answer of the API server. Read by people and by alerting.
 */
export const writeRefusedConditionType = "WriteRefused";

/** Order in which the conditions of a MachineDeployment or MachineSet are stored; unknown types go before Paused, by name. */
export const conditionOrder: readonly string[] = [
  legacyConditionTypes.available,
  legacyConditionTypes.progressing,
  legacyConditionTypes.replicaFailure,
  legacyConditionTypes.frozen,
  clusterApiConditionTypes.rollingOut,
  clusterApiConditionTypes.remediating,
  clusterApiConditionTypes.scalingDown,
  clusterApiConditionTypes.scalingUp,
  clusterApiConditionTypes.machinesReady,
  clusterApiConditionTypes.machinesUpToDate,
  clusterApiConditionTypes.paused,
  clusterApiConditionTypes.deleting,
  summaryConditionTypes.ready,
  summaryConditionTypes.reconciling,
  summaryConditionTypes.stalled,
];

/**
 * Machine conditions in Cluster API's sense. They are computed in memory and aggregated into the conditions of sets and
 * deployments. Some are stored: see {@link storedMachineConditionTypes}. Source: Cluster API, `machine_controller_status.go`.
 */
export const machineConditionTypes = {
  available: "Available",
  ready: "Ready",
  upToDate: "UpToDate",
  infrastructureReady: "InfrastructureReady",
  nodeHealthy: "NodeHealthy",
  nodeReady: "NodeReady",
  healthCheckSucceeded: "HealthCheckSucceeded",
  ownerRemediated: "OwnerRemediated",
  updating: "Updating",
  /** Ours: the pods have left the node; only while the machine is being deleted. */
  drained: "Drained",
  /** Ours: nothing is attached any more that was; only while the machine is being deleted. */
  volumesDetached: "VolumesDetached",
  /** Ours, only in the sum: the taint of critical components is removed. */
  criticalComponentsReady: "CriticalComponentsReady",
  paused: "Paused",
  deleting: "Deleting",
} as const;

/**
 * Ours, in `Machine.status.conditions` among the copies of the Node's: True while another Machine has precedence for the VM, absent otherwise. The message names that Machine.
 * Read by people and by `kubectl wait`.
 */
export const conflictConditionType = "Conflict";

/**
 * Ours, in `Machine.status.conditions` among the copies of the Node's: True while several Nodes are proven to be the VM's, absent otherwise. The message names them. Read by people and by `kubectl wait`.
 */
export const severalNodesConditionType = "SeveralNodes";

/**
 * Conditions of a Machine that are stored in `Machine.status.conditions` behind the copies of the Node's, for people, `kubectl wait` and other controllers. None has the name of a
 * condition of Nodes, since MCM judges a machine by these: so `Ready` there is the kubelet's, and that of the machine is `MachineReady`.
 */
export const storedMachineConditionTypes = {
  /** The sum: Cluster API's `Ready` of a Machine. Its reason is the first cause of those below. */
  machineReady: "MachineReady",
  infrastructureReady: machineConditionTypes.infrastructureReady,
  /** Ours: the driver has completed what needs an existing VM. */
  initialized: "Initialized",
  nodeHealthy: machineConditionTypes.nodeHealthy,
  upToDate: machineConditionTypes.upToDate,
  /** Only while it is True. */
  deleting: machineConditionTypes.deleting,
  /** Only while it is True. */
  conflict: conflictConditionType,
  /** Only while it is True. */
  severalNodes: severalNodesConditionType,
  /** Only while it is True: a person has to act before the deletion goes on. */
  stalled: summaryConditionTypes.stalled,
} as const;

const ownTypes: ReadonlySet<string> = new Set(Object.values(storedMachineConditionTypes));

/** Whether a condition in `Machine.status.conditions` is a copy of the Node's. */
export const isNodeConditionType = (type: string): boolean => !ownTypes.has(type);

/** Values of a condition's `status`. */
export const conditionStatuses = ["True", "False", "Unknown"] as const;

/** Status of a condition. */
export type ConditionStatus = (typeof conditionStatuses)[number];
