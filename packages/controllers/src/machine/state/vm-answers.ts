import { deletionEvents, hiddenVm, readOperation } from "@millwright/core/machine-api";
import { isForceDeletion } from "../../model/force-deletion.ts";
import { moveOf } from "../../model/moved-class.ts";
import type { OperationView } from "../../model/operation.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** A call that has ended. */
export type EndedOperation = Extract<OperationView, { readonly state: "done" | "failed" }>;

/** A deletion after which the VM does not exist, by the driver; `undefined` for any other operation. */
export function endedDeletion(operation: OperationView | undefined): EndedOperation | undefined {
  if (operation?.kind !== "delete") return undefined;
  if (operation.state === "failed") return operation.code === "NotFound" ? operation : undefined;
  return operation.state === "done" ? operation : undefined;
}

/** Whether the driver found no VM. */
export const foundNone = (ended: EndedOperation): boolean =>
  ended.state === "failed" || ended.result.isMissing === true;

/** Whether the driver has seen the VM that it deletes: in this call, or in one whose deletion was pending. */
function sawVm({ machine }: MachineSnapshot, ended: EndedOperation): boolean {
  if (ended.state === "done" && (ended.result.isEndSeen ?? false)) return true;
  const { reason, message } = readOperation(machine.status);
  return reason === "VmDeletionPending" && message !== hiddenVm;
}

/** Whether a call that saw no VM was made with another class or Secret than the present one, which may name another place: it is repeated. */
export const isOutdated = (snapshot: MachineSnapshot, ended: EndedOperation): boolean =>
  ended.inputs !== snapshot.inputs && !isForceDeletion(snapshot.machine) && !isKept(ended) && !sawVm(snapshot, ended);

/** Whether the VM is that of another machine. */
export const isKept = (ended: EndedOperation): boolean => ended.state === "done" && ended.result.isKept === true;

/** Why a VM that the driver has not seen may run: its class was pointed elsewhere since the VM was requested. */
export function doubtOfMovedClass(snapshot: MachineSnapshot, ended: EndedOperation): string | undefined {
  const { machine, classView } = snapshot;
  if (sawVm(snapshot, ended)) return undefined;
  const move = classView.state === "usable" ? moveOf(machine, classView.machineClass) : undefined;
  if (classView.state !== "usable" || move === undefined) return undefined;
  const { name } = classView.machineClass.metadata;
  return deletionEvents.vmMayRunElsewhere(machine.spec.providerID ?? "", name, move.recorded, move.present);
}
