import type { VirtualMachine } from "@azure/arm-compute";
import { type DeleteMachineResponse, MachineError, type MachineErrorCode } from "@millwright/core";
import { cascadeInput } from "./vm/cascade-input.ts";
import { toMachineError } from "./api/errors.ts";
import { vmNameOf } from "./vm/find-vm.ts";
import type { AzureRequest, MethodCall } from "./vm/method-call.ts";
import { isOwnedBy, ownerTagKeys } from "./vm/owner-tags.ts";
import { partsOf, removeParts } from "./vm/parts.ts";

/**
 * Deletes the VM of a machine, its NIC and its disks, and waits until they are gone, since a kubelet that still runs would register its node again. Disks that were attached
 * later stay.
 */
export async function deleteMachine(request: AzureRequest, call: MethodCall): Promise<DeleteMachineResponse> {
  const { session, keys, context } = call;
  const { machine, machineClass } = request;
  const group = machineClass.spec.resourceGroup;
  const name = vmNameOf(request);
  const vm = await session.vm(group, name, context);
  if (vm !== undefined) {
    if (!isOwnedBy({ vmName: name, tags: vm.tags }, keys, machine)) {
      throw new MachineError(
        "PermissionDenied",
        `VM "${name}" does not carry the marks of machine "${machine.name}": its name, and its UID in the tag "${ownerTagKeys.machineUid}" or, where it says none or spec.providerID names it, "${keys.cluster}", "${keys.role}" and no other namespace than "${machine.namespace}" in "${ownerTagKeys.namespace}"; it is left alone. Should it be that machine's: put the tags on it`,
      );
    }
    await removeVm(group, vm, call);
  }
  // Also after a VM that took all with it: what an interrupted creation left is told by a list that many deletions share.
  await removeParts(group, await partsOf(request, name, call), call);
  return {};
}

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
