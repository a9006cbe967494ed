/**
 * Keys of annotations that cross a process boundary.
 * Source: MCM, `pkg/util/provider/machineutils/utils.go`.
 */
export const annotationKeys = {
  /** Machine: deletion priority, an integer, lower is deleted first, missing = 3, `1` = chosen for deletion. Read by the MachineSet controller; written by users and the deployment controller. */
  machinePriority: "machinepriority.machine.sapcloud.io",
  /** Machine: RFC 3339 time at which the cluster autoscaler selected it for deletion. Written by the deployment controller, which removes it when the list of the deployment no longer has the Machine; read by the MachineSet controller. */
  markedForDeletionTime: "machine.sapcloud.io/marked-for-deletion-time",
  /** Machine and Node: one of {@link preserveValues}. Written by users and the MachineSet controller, read by the preservation step. */
  preserve: "node.machine.sapcloud.io/preserve",
  /** Machine: the preserve value of the node that was acted on last. Written and read by the machine controller; read by the MachineSet controller. */
  lastAppliedNodePreserveValue: "node.machine.sapcloud.io/last-applied-node-preserve-value",
  /** MachineDeployment → MachineSet → Machine: Go duration that beats `spec.creationTimeout` and the flag. Read by the machine controller. */
  effectiveCreationTimeout: "node.machine.sapcloud.io/effective-creation-timeout",
  /** MachineDeployment: `name~RFC3339,…`, machines that the cluster autoscaler wants removed. Written by the autoscaler, read by the deployment controller. Removing an entry takes its mark back. */
  triggerDeletion: "node.machine.sapcloud.io/trigger-deletion-by-mcm",
  /** MachineDeployment, copied to its new MachineSet: RFC 3339 time of the autoscaler's last replica change. Read by the MachineSet controller. */
  lastReplicaChangeByScaler: "machine.sapcloud.io/last-deployment-replica-change-by-scaler-time",
  /** MachineDeployment: least number of machines that the cluster autoscaler leaves, 0 without it. Cluster API's annotation. Written by users, read by the endpoint of `--autoscaler-address`. */
  autoscalerMinSize: "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
  /** MachineDeployment: greatest number of machines up to which the cluster autoscaler scales; without it, it does not scale the deployment. Cluster API's annotation. Written by users, read by the endpoint of `--autoscaler-address`. */
  autoscalerMaxSize: "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
  /** MachineSet and MachineDeployment: presence unfreezes once. Written by operators, read by the safety controller. */
  unfreeze: "safety.machine.sapcloud.io/unfreeze",

  /** MachineDeployment and MachineSet: decimal revision, the newest set has the greatest. Read by rollback and by people. */
  revision: "deployment.kubernetes.io/revision",
  /** MachineSet: comma list of revisions that it had before. Read by people. */
  revisionHistory: "deployment.kubernetes.io/revision-history",
  /** MachineSet: `spec.replicas` of the deployment at its last scaling; a difference shows the deployment controller a scaling event. */
  desiredReplicas: "deployment.kubernetes.io/desired-replicas",
  /** MachineSet: deployment replicas + maxSurge; the base of proportional scaling. Read by the deployment controller. */
  maxReplicas: "deployment.kubernetes.io/max-replicas",
  /** MachineSet: value `True`: its nodes carry the taint of the same key. Read by the deployment controller. */
  preferNoSchedule: "deployment.machine.sapcloud.io/prefer-no-schedule",

  /**
   * Machine: JSON of the next creation request to the driver, written before the call: attempt (with the UID it makes the idempotency token), class, provider, region, zone, names of the
   * secrets; also the stale node under whose name the VM came up. `{"attempt":0}`: class, Secret or driver prevent a VM, and none was requested. Never credentials. Written by the MachineSet controller with the Machine and by the machine controller, read by the latter.
   */
  creationIntent: "machine.millwright.dev/creation-intent",
  /**
   * Ours, Machine: name of the Machine for which the VM of `spec.providerID` was created, where it was not this one; drivers get it as the name of the machine. Written by the machine controller and
   * `millwright adopt`, read by the driver host and the MachineSet controller.
   */
  vmName: "machine.millwright.dev/vm-name",
  /** Secret of a bootstrap token: UID of the Machine that owns it. Written and read by the machine controller. */
  tokenOwner: "machine.millwright.dev/machine-uid",
  /** Node: JSON of the nodeTemplate applied last, in Go's shape. Written and read by the machine controller. */
  lastAppliedNodeTemplate: "node.machine.sapcloud.io/last-applied-anno-labels-taints",
  /** Node: JSON of the virtual capacity applied last. Written and read by the machine controller. */
  lastAppliedVirtualCapacity: "node.machine.sapcloud.io/last-applied-virtual-capacity",
  /** Node: `1`: no machine belongs to it; all node handlers ignore it. Written and read by the safety controller. */
  notManaged: "node.machine.sapcloud.io/not-managed-by-mcm",
  /** Node: why the in-place update failed. Written by the node agent, read by the machine controller. */
  updateFailedReason: "node.machine.sapcloud.io/update-failed-reason",
  /** Node: `true` keeps the cluster autoscaler from removing it. Read by the cluster autoscaler. */
  scaleDownDisabled: "cluster-autoscaler.kubernetes.io/scale-down-disabled",
  /** Node: `true`: {@link annotationKeys.scaleDownDisabled} was set by a controller, which may remove it again. */
  scaleDownDisabledByController: "cluster-autoscaler.kubernetes.io/scale-down-disabled-by-mcm",
  /** Ours, Machine: JSON of the pods whose volumes a drain is moving, and of its time without pauses. Written and read by the drain, which continues from it after a restart. */
  drainState: "machine.millwright.dev/drain-state",
  /** Ours, Machine or MachineClass: JSON list of rules of an ordered drain; see `readDrainRules`. Written by users, read by the drain. */
  drainRules: "machine.millwright.dev/drain-rules",
  /**
   * Ours, Machine, from `spec.template.metadata.annotations` of its MachineDeployment: keys of further startup taints with commas between them, such as
   * `node.cilium.io/agent-not-ready`. The machine is not Running for the first time while its Node has one. Written by users, read by the machine controller.
   */
  startupTaints: "machine.millwright.dev/startup-taints",
  /**
   * Ours, MachineDeployment: how many unhealthy machines may be remediated at the same time; a whole number, or a percentage of its machines,
   * rounded down but at least 1; 0 disables remediation. Written by users, read by the machine controller.
   */
  maxInFlightRemediations: "machine.millwright.dev/max-in-flight-remediations",
  /**
   * Ours, Node: JSON of its pending or current in-place update: the target MachineSet, and whether the node was schedulable before. Written
   * and read by the deployment controller, which can undo the update by it.
   */
  inPlaceUpdate: "machine.millwright.dev/in-place-update",
  /** Ours, MachineSet: comma list of the annotations that it has from its MachineDeployment, so that those removed there are removed here too. Written and read by the deployment controller. */
  inheritedAnnotations: "machine.millwright.dev/inherited-annotations",
  /**
   * Ours, MachineDeployment: steps of a RollingUpdate, `10%/30m,50%/pause`: how many machines the new template may have, and how long they must have served, or
   * `pause`, before more follow. Written by users, read by the deployment controller.
   */
  canarySteps: "machine.millwright.dev/canary-steps",
  /**
   * Ours, MachineDeployment: JSON of the rollout that is under way: `set` and `revision` of its MachineSet, `proven`, the MachineSet whose template had all machines before, `since`, and `passed` after the last
   * canary step. Written and read by the deployment controller, from the first write of a rollout to its end.
   */
  rollout: "machine.millwright.dev/rollout",
  /**
   * Ours, MachineDeployment: `REVISION/STEP`: the pause after this step of the rollout with this revision, and those before, are over. Written by users, read by the deployment controller, which removes it at the end
   * of the rollout.
   */
  canaryContinue: "machine.millwright.dev/canary-continue",
  /** Ours, MachineDeployment: what follows when a new machine fails in a rollout with steps: `stop`, the default, or `rollback`. Written by users, read by the deployment controller. */
  canaryOnFailure: "machine.millwright.dev/canary-on-failure",
  /** Ours, MachineSet: name of the machine whose failure stopped the rollout of its template. Written and read by the deployment controller; users remove it to go on. */
  canaryFailed: "machine.millwright.dev/canary-failed",
  /** Ours, MachineDeployment: `true`: a RollingUpdate replaces old machines only when a user deletes them. Written by users, read by the deployment controller. */
  onDelete: "machine.millwright.dev/on-delete",
  /**
   * Ours, MachineDeployment: when machines may be replaced by choice: `CRON DURATION [ZONE]`, several with `;` between them, such as `0 22 * * 6 4h Europe/Berlin`.
   * Written by users, read by the deployment controller.
   */
  maintenanceWindows: "machine.millwright.dev/maintenance-windows",
  /** Ours, MachineDeployment: `true`: a machine counts as available only when it has served for `spec.minReadySeconds`. Written by users, read by the controllers of sets and deployments. */
  honorMinReadySeconds: "machine.millwright.dev/honor-min-ready-seconds",
  /**
   * Ours, MachineClass: JSON with two hashes: `spec`, of the spec that the driver read, and `template`, of the `nodeTemplate` that it returned. Without it, or
   * with another template hash, `nodeTemplate` was written by another client and is kept. Written and read by the machine class controller.
   */
  filledNodeTemplate: "machine.millwright.dev/filled-node-template",
  /**
   * Ours, MachineClass: whether VMs can be created from it now: `Ready`, or in one word why not. MCM's schema of a class has no status. Written and read by the machine class controller; a column of
   * `kubectl get machineclasses`.
   */
  classStatus: "machine.millwright.dev/status",
  /** Ours, MachineClass: RFC 3339 time since when it has that status. Written and read by the machine class controller; a column. */
  classStatusSince: "machine.millwright.dev/status-since",
  /** Ours, MachineClass: a sentence about that status; absent while it is `Ready`. Written and read by the machine class controller. */
  classStatusMessage: "machine.millwright.dev/status-message",
  /** Ours, MachineClass: keys of `providerSpec` that its driver ignores, with what was probably meant. Absent: there are none. Written and read by the machine class controller. */
  unknownKeys: "machine.millwright.dev/unknown-keys",
  /**
   * Ours, MachineClass: JSON of the VMs without Machine that are in quarantine, by provider id, each with the name and UID of its Machine, since when, since when its Nodes are drained, and when it was deleted; and of the number
   * of machines at that time. An entry that is removed starts again. Written and read by the collector of VMs without Machine.
   */
  orphanVms: "machine.millwright.dev/orphan-vms",
  /**
   * Ours, Node: JSON of the VM without Machine whose Node this is: why and from when on it is deleted, its MachineClass, and whether the Node was schedulable before. The Node is cordoned meanwhile. Written and read by
   * the collector of VMs without Machine, which removes it when the VM has a Machine again.
   */
  orphanNode: "machine.millwright.dev/vm-without-machine",
  /**
   * Ours, CustomResourceDefinition of one of our kinds: `true`: its deletion deletes the objects and their VMs. Without it these deletions are paused. Written by
   * users, read by all controllers.
   */
  allowCrdDeletion: "machine.millwright.dev/allow-crd-deletion",
  /**
   * Ours, Machine and MachineDeployment: `true`, in any spelling of Go's booleans: its deletion is paused: no node is drained, no VM and no owned object is deleted until the annotation is removed. MachineSets select no such machine
   * for deletion. Written by users, read by the controllers of machines, sets and deployments, and by the ValidatingAdmissionPolicy of `deletionProtectionPolicy`.
   */
  deletionProtection: "machine.millwright.dev/deletion-protection",
  /**
   * Ours, Machine and MachineSet: UID of the MachineSet or MachineDeployment that released it because its labels no longer match the selector, and when: `<uid>/<RFC 3339>`. Such machines
   * count against the maximum of the set for an hour, and several of them freeze it. Such a set keeps its deployment from creating another for an hour, and two of them until one is adopted or
   * deleted, or loses this annotation. Written and read by the controllers of sets and deployments.
   */
  releasedFrom: "machine.millwright.dev/released-from",
  /**
   * Ours, Machine and MachineSet: UID of an owner that does not exist, and when the object was adopted in its place: `<uid>/<RFC 3339>`. When it is deleted within five minutes after that, the garbage collector may have
   * done so: the deletion of such a Machine is held, and such a MachineSet keeps its machines. Written and read by the controllers of sets and deployments, read by that of machines.
   */
  adoptedFrom: "machine.millwright.dev/adopted-from",
  /**
   * Ours, MachineSet: number of machines that it had when the CRD of one of our kinds was deleted, before the API server went back to an earlier state, or before most of its Machines were lost. Until it has that many again, or `spec.replicas`, or
   * the list of VMs shows that none is without Machine, it creates and deletes none; with fewer replicas than that, the VMs of its lost Machines are kept. `unknown`: the set was restored from a file; before it creates machines, the VMs of its class are listed. Written by the controllers of sets and deployments, removed by it or by users; read by the controllers of sets and deployments.
   */
  expectedReplicas: "machine.millwright.dev/expected-replicas",
  /**
   * Ours, MachineDeployment, MachineSet or Machine: approves deletions that the deletion budget holds, and creations of machines whose VMs may exist already: `deletions=15,generation=7,uid=0a1b2c3d`, as condition DeletionsHeld shows
   * it, those and no others; `at-a-time=3` gives them a pace. An RFC 3339 time approves everything until then. Any other value approves nothing. Written by users and `millwright approve`, read by the controllers of sets and machines.
   */
  approveDeletions: "machine.millwright.dev/approve-deletions",
  /** Ours, MachineDeployment and MachineSet: what approvals of its generation were used for, `generation=7,count=15`: they approve nothing twice. Written and read by the MachineSet controller. */
  usedApprovals: "machine.millwright.dev/used-approvals",
  /**
   * Ours, MachineDeployment, or MachineSet without one: share of its machines that may be deleted within an hour without an approval, from `1%` to `100%`, instead of `--machine-safety-max-deletion-share`. Above that, the machines do
   * not count in the share of the namespace either. Written by users, read by the controllers of sets and machines.
   */
  maxDeletionShare: "machine.millwright.dev/max-deletion-share",
  /** Ours, Machine: RFC 3339 time at which the cloud may have reclaimed its VM, by the notice that its node shows. Written by the machine controller, read by the drain, which ends by then. */
  interruptionDeadline: "machine.millwright.dev/interruption-deadline",
  /** MachineDeployment: kubectl's record of the applied manifest; never copied to a MachineSet. Read by kubectl. */
  kubectlLastApplied: "kubectl.kubernetes.io/last-applied-configuration",
} as const;

/** Annotations that the controllers write on a MachineClass: no input of a driver, and no reason to try anything again. */
export const writtenClassAnnotations: ReadonlySet<string> = new Set([
  annotationKeys.filledNodeTemplate,
  annotationKeys.orphanVms,
  annotationKeys.classStatus,
  annotationKeys.classStatusSince,
  annotationKeys.classStatusMessage,
  annotationKeys.unknownKeys,
]);

/**
 * Requests to Cluster API about an object, none of which has an effect here, with what has one. Source: Cluster API, `api/core/v1beta2/common_types.go`
 * and `machine_types.go`. A hook has its name
 * behind a slash.
 */
const clusterApiRequests: readonly (readonly [key: string, advice: string])[] = [
  [
    "pre-drain.delete.hook.machine.cluster.x-k8s.io",
    `${annotationKeys.deletionProtection}=true holds the whole deletion`,
  ],
  [
    "pre-terminate.delete.hook.machine.cluster.x-k8s.io",
    `${annotationKeys.deletionProtection}=true holds the whole deletion`,
  ],
  ["cluster.x-k8s.io/paused", "spec.paused of a MachineDeployment pauses its rollout"],
  ["cluster.x-k8s.io/remediate-machine", "delete the Machine to have it replaced"],
  ["cluster.x-k8s.io/skip-remediation", `${annotationKeys.preserve}=now keeps a Machine that is Failed`],
  ["cluster.x-k8s.io/delete-machine", `${annotationKeys.machinePriority}=1 selects a Machine for the next scale-down`],
  ["machine.cluster.x-k8s.io/exclude-node-draining", "the label force-deletion=True deletes a Machine without a drain"],
  [
    "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach",
    "the flag --machine-pv-detach-timeout limits that wait",
  ],
];

/** Why an annotation of Cluster API has no effect on an object of ours, and what has; `undefined` for one that requests nothing, or has one. */
export function ignoredRequest(key: string): string | undefined {
  const request = clusterApiRequests.find(([each]) => key === each || key.startsWith(`${each}/`));
  return request && `Annotation ${key} of Cluster API has no effect here: ${request[1]}`;
}

/** Values of {@link annotationKeys.preserve}, case-sensitive. Source: MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation. */
export const preserveValues = {
  /** Preserve at once, in any phase. Written by users. */
  now: "now",
  /** Preserve as soon as the machine is Failed. Written by users. */
  whenFailed: "when-failed",
  /** Preserve this Failed machine; written by the MachineSet controller up to autoPreserveFailedMachineMax. */
  autoPreserved: "auto-preserved",
  /** Do not preserve, also not automatically. Written by users. */
  never: "false",
} as const;

/** Priority of a machine without {@link annotationKeys.machinePriority}. Read by the MachineSet controller. */
export const defaultMachinePriority = 3;

/** Priority of a machine that is marked for deletion. Written by the deployment controller and by users. */
export const deletionMachinePriority = 1;

/** Annotations of a MachineDeployment that its MachineSets do not inherit. Source: MCM, `pkg/util/provider/machineutils/utils.go`. */
export const annotationsNotInheritedBySets: ReadonlySet<string> = new Set([
  annotationKeys.kubectlLastApplied,
  annotationKeys.revision,
  annotationKeys.revisionHistory,
  annotationKeys.desiredReplicas,
  annotationKeys.maxReplicas,
  annotationKeys.preferNoSchedule,
  annotationKeys.unfreeze,
  annotationKeys.maxInFlightRemediations,
  annotationKeys.inheritedAnnotations,
  annotationKeys.triggerDeletion,
  annotationKeys.autoscalerMinSize,
  annotationKeys.autoscalerMaxSize,
  annotationKeys.rollout,
  annotationKeys.canarySteps,
  annotationKeys.canaryContinue,
  annotationKeys.canaryOnFailure,
  annotationKeys.canaryFailed,
  annotationKeys.onDelete,
  annotationKeys.maintenanceWindows,
  annotationKeys.honorMinReadySeconds,
  annotationKeys.deletionProtection,
  annotationKeys.approveDeletions,
  annotationKeys.usedApprovals,
  annotationKeys.maxDeletionShare,
  annotationKeys.releasedFrom,
  annotationKeys.adoptedFrom,
]);
