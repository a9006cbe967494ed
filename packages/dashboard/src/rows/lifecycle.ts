import { type DeletionStage, type Machine, phaseOf, readOperation } from "@millwright/core/machine-api";

/** The steps of a machine's life, in their order. */
export const lifecycleSteps = ["Create VM", "Join", "In service", "Drain", "Detach", "Delete VM", "Remove"] as const;

/** How a step goes: as it should, under way, in need of attention, failing. */
export type Tone = "ok" | "busy" | "warn" | "bad";

/** Where a machine is in its life. */
export interface LifecyclePosition {
  /** Index of {@link lifecycleSteps}. */
  readonly step: number;
  readonly tone: Tone;
}

const stepOfStage: Readonly<Record<DeletionStage, number>> = {
  GetVmStatus: 3,
  Drain: 3,
  DeleteVolumeAttachments: 4,
  DeleteVm: 5,
  DeleteNode: 6,
  RemoveFinalizer: 6,
};

/** Whether the deletion of a machine has been requested, or has begun. */
export const isTerminating = (machine: Machine): boolean =>
  machine.metadata.deletionTimestamp != null || phaseOf(machine) === "Terminating";

const terminating = (machine: Machine, isHeld: boolean): LifecyclePosition => {
  const { state } = machine.status?.lastOperation ?? {};
  const step = stepOfStage[readOperation(machine.status).stage ?? "GetVmStatus"];
  return { step, tone: isHeld ? "warn" : state === "Failed" ? "bad" : "busy" };
};

/** The step of a machine, from its phase; of a machine that is being deleted, from the marker of its deletion stage. */
export function lifecycleOf(machine: Machine, isHeld: boolean): LifecyclePosition {
  if (isTerminating(machine)) return terminating(machine, isHeld);
  const hasVm = (machine.spec.providerID ?? "") !== "";
  switch (phaseOf(machine)) {
    case "":
      return { step: 0, tone: machine.status?.lastOperation?.state === "Failed" ? "bad" : "busy" };
    case "CrashLoopBackOff":
      return { step: hasVm ? 1 : 0, tone: "bad" };
    case "Pending":
      return { step: 1, tone: "busy" };
    case "Running":
    case "Available":
      return { step: 2, tone: "ok" };
    case "InPlaceUpdating":
    case "InPlaceUpdateSuccessful":
      return { step: 2, tone: "busy" };
    case "Unknown":
      return { step: 2, tone: "warn" };
    case "InPlaceUpdateFailed":
      return { step: 2, tone: "bad" };
    case "Failed":
      return { step: hasVm ? 2 : 0, tone: "bad" };
    case "Terminating":
    case undefined:
      return { step: 2, tone: "warn" };
  }
}
