import type { VirtualMachine } from "@azure/arm-compute";
import type { MachineErrorCode } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import { cascadeInput } from "./cascade-input.ts";
import type { MethodCall } from "./method-call.ts";

/** Codes of refusals that another try would meet too. */
const lastingCodes: ReadonlySet<MachineErrorCode> = new Set([
  "FailedPrecondition",
  "InvalidArgument",
  "PermissionDenied",
]);

/** Deletes a VM; NIC and disks that were made for it go with it, where Azure can still be told so. */
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
      const failure = toMachineError(error, signal, `telling VM "${name}" to take its NIC and disks along`);
      // What stays is deleted after the VM, so a refusal keeps nothing from going.
      if (!lastingCodes.has(failure.code)) throw failure;
    }
  }
  await api.deleteVm(group, name, signal);
}
