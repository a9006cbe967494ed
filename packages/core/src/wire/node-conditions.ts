/**
 * Conditions that the machine controller writes into `Node.status.conditions`, from where they are copied into
 * `Machine.status.conditions`. Source: MCM, `pkg/util/provider/machineutils/utils.go`; MCM, `pkg/util/provider/machinecontroller/machine_util.go` inPlaceUpdate; MCM, `pkg/controller/deployment_inplace.go` transferMachinesFromOldToNewMachineSet.
 */
export const nodeConditionTypes = {
  /** Status True while the machine of the node is being deleted. Read by workloads and people. */
  terminating: "Terminating",
  /** Status always True, the progress is in the reason. Read by the deployment controller and by Gardener. */
  inPlaceUpdate: "InPlaceUpdate",
  /** True while the node is preserved, False when its drain failed or preservation stopped. Read by people. */
  preserved: "Preserved",
  /** The kubelet's own; a machine is healthy only when it is True. */
  ready: "Ready",
  /** The node problem detector's; longer than five minutes not False forces the drain. */
  readonlyFilesystem: "ReadonlyFilesystem",
} as const;

/** Reasons of the Terminating condition. `Unhealthy` for a machine that had failed before. */
export const terminatingReasons = { scaleDown: "ScaleDown", unhealthy: "Unhealthy" } as const;

/** Reasons of the InPlaceUpdate condition in their order; two ends. Read by the deployment controller and by Gardener. */
export const inPlaceUpdateReasons = {
  candidateForUpdate: "CandidateForUpdate",
  selectedForUpdate: "SelectedForUpdate",
  drainSuccessful: "DrainSuccessful",
  readyForUpdate: "ReadyForUpdate",
  updateSuccessful: "UpdateSuccessful",
  updateFailed: "UpdateFailed",
} as const;

/** Messages of the InPlaceUpdate condition by reason; UpdateFailed is followed by the agent's text. */
export const inPlaceUpdateMessages = {
  CandidateForUpdate: "Node is a candidate for in-place update",
  SelectedForUpdate: "Node is selected for in-place update",
  DrainSuccessful: "Node draining successful",
  ReadyForUpdate: "Node is ready for in-place update",
  UpdateSuccessful: "Node in-place update successful",
  UpdateFailed: "Node in-place update failed: ",
} as const satisfies Readonly<Record<(typeof inPlaceUpdateReasons)[keyof typeof inPlaceUpdateReasons], string>>;

/** Reasons of the Preserved condition; the full stop is part of the text on the wire. */
export const preservedReasons = {
  byController: "Preserved by MCM.",
  byUser: "Preserved by user.",
  stopped: "Preservation stopped.",
} as const;

/** Parts of the Preserved condition's message. `drained` is searched for by MCM to decide whether a drain is still due. */
export const preservedMessages = {
  drained: "Preserved node drained successfully.",
  notDrained: "Preserved node could not be drained.",
  /** The last, often the only sentence. `expiry` is an RFC 3339 time. */
  until: (expiry: string) => `Machine preserved until ${expiry}.`,
} as const;

/** Node conditions that make a machine unhealthy unless they are False, when neither machine nor configuration names others. Source: MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy. */
export const defaultNodeConditions: readonly string[] = [
  "KernelDeadlock",
  "ReadonlyFilesystem",
  "DiskPressure",
  "NetworkUnavailable",
];
