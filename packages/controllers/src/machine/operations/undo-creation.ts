import { MachineError } from "@millwright/core";
import type { Machine } from "@millwright/core/machine-api";
import { apiTime, objectFields } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";
import type { DriverOutcome, MachineDriver, VmCall } from "../../model/driver-port.ts";
import { isPending, type OperationResult } from "../../model/operation.ts";

/** Deletes the VM of a Machine that was deleted, with its finalizer, while that VM was being created. Without an id, the driver finds the VM that may exist. */
export type UndoCreation = (call: VmCall, providerId: string, signal: AbortSignal) => Promise<void>;

/** Makes it. A VM that it fails to delete is left to the collection of orphans. */
export function createCreationUndo(
  { caches, clock, log }: Pick<ControllerContext, "caches" | "clock" | "log">,
  driver: Pick<MachineDriver, "deleteVm">,
): UndoCreation {
  /** Whether a VM may be that of a new Machine of the same name: drivers that find VMs by name let it adopt the VM. */
  const isOfNewMachine = ({ metadata: { namespace, name, uid } }: Machine, providerId: string): boolean => {
    const stored = caches.machines.store.getByRef({ ...(namespace === undefined ? {} : { namespace }), name });
    if (stored === undefined || stored.metadata.uid === uid) return false;
    const { providerID: own = "" } = stored.spec;
    return own === "" || providerId === "" || own === providerId;
  };

  /** Calls again for as long as the deletion is pending; `undefined` for a VM that may be another machine's. */
  const deleteVm = async (
    { machine, ...classCall }: VmCall,
    providerId: string,
    signal: AbortSignal,
  ): Promise<DriverOutcome<OperationResult> | undefined> => {
    const spec = { ...machine.spec, providerID: providerId };
    // From this time on, the cloud may hide for a while a VM that it has accepted.
    const metadata = { ...machine.metadata, deletionTimestamp: apiTime(clock.now()) };
    const call = { ...classCall, machine: { ...machine, metadata, spec } };
    for (;;) {
      if (isOfNewMachine(machine, providerId)) return undefined;
      const outcome = await driver.deleteVm(call, signal);
      if (!outcome.ok) return outcome;
      if (!isPending(outcome.value)) return { ok: true, value: outcome.value };
      try {
        await clock.sleep(outcome.value.pending.checkAfterMs, signal);
      } catch {
        const message = "the deletion is pending, and the controller is stopping";
        return { ok: false, error: new MachineError("Aborted", message) };
      }
    }
  };

  return async (call, providerId, signal) => {
    const subject = { ...objectFields(call.machine), ...(providerId === "" ? {} : { vm: providerId }) };
    const outcome = await deleteVm(call, providerId, signal);
    if (outcome?.ok === false && outcome.error.code !== "NotFound") {
      const because = outcome.error.message;
      return log("error", "Failed to delete a VM whose machine was deleted during its creation", {
        ...subject,
        because,
      });
    }
    if (outcome?.ok === true && outcome.value.isMissing !== true)
      log("warn", "Deleted a VM whose machine was deleted during its creation", subject);
  };
}
