import type { OperationState, OperationType } from "./operations.ts";
import type { MachinePhase } from "./phases.ts";

/** One way from phase to phase on the machine controller's side. */
export interface PhaseTransition {
  /** Number of the row in `docs/architecture.md`; rows from 21 on have no counterpart in MCM. */
  readonly row: number;
  /** Phases it starts from; `any` is every phase. */
  readonly from: readonly MachinePhase[] | "any";
  readonly to: MachinePhase;
  /** What makes it happen. */
  readonly trigger: string;
  /** `status.lastOperation.type` that is written with it; `unchanged` keeps the stored one. */
  readonly operation: OperationType | "unchanged";
  /** `status.lastOperation.state` that is written with it. */
  readonly state: OperationState;
}

const creating = ["", "CrashLoopBackOff"] as const;

/**
 * The transitions of MCM (`pkg/util/provider/machinecontroller`), row by row, and after them our own. Failed is terminal for creation here: rows 3 and 4
 * start in the phases in which a VM is still being created.
 */
export const phaseTransitions: readonly PhaseTransition[] = [
  {
    row: 1,
    from: creating,
    to: "Pending",
    trigger: "the VM exists and its ids are stored",
    operation: "Create",
    state: "Processing",
  },
  {
    row: 2,
    from: creating,
    to: "Available",
    trigger: "the VM exists and there is no target cluster",
    operation: "Create",
    state: "Successful",
  },
  {
    row: 3,
    from: creating,
    to: "CrashLoopBackOff",
    trigger: "a create, status or initialize call failed within the creation timeout",
    operation: "Create",
    state: "Failed",
  },
  {
    row: 4,
    from: creating,
    to: "Failed",
    trigger: "the same after the creation timeout",
    operation: "Create",
    state: "Failed",
  },
  {
    row: 5,
    from: creating,
    to: "Failed",
    trigger: "the VM took the name of an existing Node that is not this machine's",
    operation: "Create",
    state: "Failed",
  },
  {
    row: 6,
    from: ["CrashLoopBackOff"],
    to: "Running",
    trigger: "the Node is healthy and has no startup taint, and the VM is not known to be uninitialized",
    operation: "Create",
    state: "Successful",
  },
  {
    row: 7,
    from: ["Pending"],
    to: "Running",
    trigger: "the Node is healthy and has no startup taint",
    operation: "Create",
    state: "Successful",
  },
  {
    row: 8,
    from: ["Pending"],
    to: "Failed",
    trigger: "the creation timeout passed",
    operation: "unchanged",
    state: "Failed",
  },
  {
    row: 9,
    from: ["Running"],
    to: "Unknown",
    trigger: "the Node is missing or unhealthy, or the VM is missing or belongs to another Machine",
    operation: "HealthCheck",
    state: "Processing",
  },
  {
    row: 10,
    from: ["Unknown"],
    to: "Running",
    trigger: "the Node is healthy again",
    operation: "HealthCheck",
    state: "Successful",
  },
  {
    row: 11,
    from: ["Unknown"],
    to: "Failed",
    trigger: "the health timeout passed and the remediation budget allows it",
    operation: "unchanged",
    state: "Failed",
  },
  {
    row: 12,
    from: ["Unknown"],
    to: "Running",
    trigger: "the API servers answer again after a freeze",
    operation: "HealthCheck",
    state: "Successful",
  },
  {
    row: 13,
    from: ["Failed"],
    to: "Running",
    trigger:
      "the Node is healthy before the machine is deleted, and neither initialization nor a startup taint is pending",
    operation: "HealthCheck",
    state: "Successful",
  },
  {
    row: 14,
    from: ["Running", "Unknown"],
    to: "InPlaceUpdating",
    trigger: "the in-place drain succeeded",
    operation: "InPlaceUpdate",
    state: "Processing",
  },
  {
    row: 15,
    from: ["InPlaceUpdating", "InPlaceUpdateFailed"],
    to: "InPlaceUpdateSuccessful",
    trigger: "the node agent reports success",
    operation: "InPlaceUpdate",
    state: "Successful",
  },
  {
    row: 16,
    from: ["InPlaceUpdating"],
    to: "InPlaceUpdateFailed",
    trigger: "the node agent reports failure",
    operation: "InPlaceUpdate",
    state: "Failed",
  },
  {
    row: 17,
    from: ["InPlaceUpdating"],
    to: "InPlaceUpdateFailed",
    trigger: "the in-place update timeout passed",
    operation: "InPlaceUpdate",
    state: "Failed",
  },
  {
    row: 18,
    from: ["InPlaceUpdateFailed"],
    to: "Failed",
    trigger: "the health timeout passed and the remediation budget allows it",
    operation: "unchanged",
    state: "Failed",
  },
  {
    row: 19,
    from: ["InPlaceUpdateSuccessful"],
    to: "Running",
    trigger: "the Node is healthy and has no startup taint",
    operation: "HealthCheck",
    state: "Successful",
  },
  {
    row: 20,
    from: "any",
    to: "Terminating",
    trigger: "the machine is being deleted",
    operation: "Delete",
    state: "Processing",
  },
  {
    row: 21,
    from: ["InPlaceUpdateSuccessful"],
    to: "Failed",
    trigger: "the Node stayed unhealthy for the health timeout and the remediation budget allows it",
    operation: "unchanged",
    state: "Failed",
  },
  {
    row: 22,
    from: ["Available"],
    to: "Failed",
    trigger: "the VM belongs to another Machine and there is no target cluster",
    operation: "HealthCheck",
    state: "Failed",
  },
  {
    row: 23,
    from: ["Pending", "Running", "Unknown"],
    to: "Failed",
    trigger: "a taint of the Node shows that the cloud will reclaim the VM",
    operation: "HealthCheck",
    state: "Failed",
  },
  {
    row: 24,
    from: [""],
    to: "Running",
    trigger: "as row 7, within a second of the end of the creation",
    operation: "Create",
    state: "Successful",
  },
];

/** Whether the table allows a change from one phase to another; a phase may always stay as it is. */
export function allowsTransition(from: MachinePhase, to: MachinePhase): boolean {
  if (from === to) return true;
  return phaseTransitions.some((each) => each.to === to && (each.from === "any" || each.from.includes(from)));
}
