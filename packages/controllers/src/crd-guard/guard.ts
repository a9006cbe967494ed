import {
  crdDeletedReason,
  crdsEstablishedConditionType,
  eventReasons,
  type Machine,
  machineEventReasons,
} from "@millwright/core";
import type { ApiObject, ReadonlyStore } from "@millwright/kube";
import type { CrdGuard } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";
import type { Guard, Hold } from "../model/hold.ts";
import { markedStage } from "../model/marked-stage.ts";
import { pausingCrdOf } from "./pausing-crd.ts";
import { deletionPausedMessage, pausedMessage, remedy } from "./paused-messages.ts";

const BY = "crd";

/** The hold of a Machine whose only reason to terminate is a CRD. Its VM is in service: the phase stays. */
export const crdHoldOfMachine = (crd: CrdState): Hold => ({
  by: BY,
  holds: "deletion",
  message: deletionPausedMessage(crd),
  remedy: remedy(crd),
  event: { type: "Warning", reason: machineEventReasons.deletionPaused },
  keepsPhase: true,
});

/** The hold of an object that owns others, while a CRD takes them or the object itself. */
export const crdHoldOfOwner = (crd: CrdState): Hold => ({
  by: BY,
  holds: "everything",
  message: pausedMessage(crd),
  remedy: remedy(crd),
  event: { type: "Warning", reason: eventReasons.crdDeleted },
  condition: { type: crdsEstablishedConditionType, status: "False", reason: crdDeletedReason },
});

/** Holds the deletion of Machines that terminate because of a CRD. */
export const crdGuardOfMachines = (
  guard: CrdGuard,
  machines: Pick<ReadonlyStore<Machine>, "list">,
): Guard<Machine> => ({
  name: BY,
  of(machine) {
    const result = guard.deletionVerdictOf("Machine", machine, markedStage({ machine }) !== undefined);
    if (result.verdict === "unknown") return { read: () => guard.refresh("Machine", machine), mayKeepPhase: true };
    return result.verdict === "paused" ? crdHoldOfMachine(result.crd) : "proceed";
  },
  onChange: (listener) =>
    guard.onChange(() => {
      for (const machine of machines.list()) if (machine.metadata.deletionTimestamp !== undefined) listener(machine);
    }),
});

/** Holds everything of sets or deployments that a CRD takes, or whose dependents it takes. */
export const crdGuardOfOwners = (
  guard: Pick<CrdGuard, "stateOf" | "deletionVerdictOf" | "refresh">,
  kind: "MachineSet" | "MachineDeployment",
): Guard<ApiObject> => ({
  name: BY,
  of(object) {
    const verdict = guard.deletionVerdictOf(kind, object, false);
    const crd = pausingCrdOf(guard, kind, object, verdict);
    if (crd !== undefined) return crdHoldOfOwner(crd);
    return verdict.verdict === "unknown" ? { read: () => guard.refresh(kind, object) } : "proceed";
  },
});
