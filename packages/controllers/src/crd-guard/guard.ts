import type { Machine } from "@millwright/core/machine-api";
import type { ApiObject, ReadonlyStore } from "@millwright/kube";
import type { CrdGuard } from "../model/crd-guard.ts";
import { isTerminatingOrDeleted } from "../model/crd-state.ts";
import type { Guard } from "../model/hold.ts";
import { markedStage } from "../model/phase.ts";
import { pausingCrdOf } from "./pausing-crd.ts";
import { CRD, crdHoldOfMachine, crdHoldOfOwner } from "./crd-hold.ts";

/** Holds the deletion of Machines that terminate because of a CRD. */
export const crdGuardOfMachines = (
  guard: CrdGuard,
  machines: Pick<ReadonlyStore<Machine>, "list">,
): Guard<Machine> => ({
  name: CRD,
  waitFor: guard,
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
  guard: Pick<CrdGuard, "stateOf" | "deletionVerdictOf" | "refresh" | "onChange" | "synced">,
  kind: "MachineSet" | "MachineDeployment",
  owners: Pick<ReadonlyStore<ApiObject>, "list">,
): Guard<ApiObject> => ({
  name: CRD,
  waitFor: guard,
  of(object) {
    const verdict = guard.deletionVerdictOf(kind, object, false);
    const crd = pausingCrdOf(guard, kind, object, verdict);
    if (crd !== undefined) return crdHoldOfOwner(crd);
    return verdict.verdict === "unknown" ? { read: () => guard.refresh(kind, object) } : "proceed";
  },
  onChange: (listener) => guard.onChange(() => owners.list().forEach(listener)),
});

/** Holds the deletion of classes while that of their CRD is not allowed. */
export const crdGuardOfClasses = (
  guard: CrdGuard,
  classes: Pick<ReadonlyStore<ApiObject>, "list">,
): Guard<ApiObject> => ({
  name: CRD,
  waitFor: guard,
  of() {
    const crd = guard.stateOf("MachineClass");
    return isTerminatingOrDeleted(crd) ? crdHoldOfOwner(crd) : "proceed";
  },
  onChange: (listener) => guard.onChange(() => classes.list().forEach(listener)),
});
