import type { VirtualMachine } from "@azure/arm-compute";
import type { MachineErrorCode } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import { cascadeInput } from "./cascade-input.ts";
import type { MethodCall } from "./method-call.ts";

/** Codes of rejections that another attempt would get, too. */
const lastingCodes: ReadonlySet<MachineErrorCode> = new Set([
  "FailedPrecondition",
  "InvalidArgument",
  "PermissionDenied",
]);

/** Deletes a VM together with the NIC and the disks that were created for it, if it can still be updated so. */
export async function removeVm(group: string, vm: VirtualMachine, call: MethodCall): Promise<void> {
  const { api } = call.session;
  const { signal } = call.context;
  const name = vm.name ?? "";
  if (vm.provisioningState === "Deleting" && (await api.settledVm(group, name, signal)) === undefined) return;
  const isChangeable =
    vm.provisioningState === "Succeeded" &&
    (vm.storageProfile?.dataDisks ?? []).every(({ toBeDetached }) => toBeDetached !== true);
  const cascade = isChangeable ? cascadeInput(vm) : undefined;
  if (cascade !== undefined) {
    try {
      await api.updateVm(group, name, cascade, signal);
    } catch (error) {
      const failure = toMachineError(
        error,
        signal,
        `updating VM "${name}" so that its NIC and disks are deleted with it`,
      );
      // What remains is deleted after the VM, so a rejection blocks nothing.
      if (!lastingCodes.has(failure.code)) throw failure;
    }
  }
  await api.deleteVm(group, name, signal);
}
