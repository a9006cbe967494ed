import { type DeleteMachineResponse, MachineError, type PendingResponse } from "@millwright/core";
import { vmNameOf } from "./vm/find-vm.ts";
import type { AzureRequest, MethodCall } from "./vm/method-call.ts";
import { isOwnedBy, ownerTagKeys } from "./vm/owner-tags.ts";
import { orPending } from "./vm/or-pending.ts";
import { partsOf, removeParts } from "./vm/parts.ts";
import { removeVm } from "./vm/remove-vm.ts";

/**
 * Deletes the VM of a machine, its NIC and its disks, and waits until they are gone, since a kubelet that still runs would register its node again. Disks that were attached
 * later stay. Pending while Azure needs longer than a call has.
 */
export const deleteMachine = (
  request: AzureRequest,
  call: MethodCall,
): Promise<DeleteMachineResponse | PendingResponse> =>
  orPending(call, `Azure deletes the VM of machine "${request.machine.name}"`, (limited) => remove(request, limited));

async function remove(request: AzureRequest, call: MethodCall): Promise<DeleteMachineResponse> {
  const { session, keys, context } = call;
  const { machine, machineClass } = request;
  const group = machineClass.spec.resourceGroup;
  const name = vmNameOf(request);
  // A shared list may miss a VM while others are deleted, and a machine whose VM is missing is deleted.
  const vm = (await session.vm(group, name, context)) ?? (await session.api.getVm(group, name, context.signal));
  if (vm !== undefined) {
    if (!isOwnedBy({ vmName: name, tags: vm.tags }, keys, machine)) {
      throw new MachineError(
        "PermissionDenied",
        `VM "${name}" does not carry the marks of machine "${machine.name}": its name, and its UID in the tag "${ownerTagKeys.machineUid}" or, if it has none or spec.providerID names it, "${keys.cluster}", "${keys.role}" and no other namespace than "${machine.namespace}" in "${ownerTagKeys.namespace}"; it is kept. Should it be that machine's: put the tags on it`,
      );
    }
    await removeVm(group, vm, call);
  }
  // Also after a VM that was deleted with all its parts: leftovers of an interrupted creation are found by a list that deletions share.
  await removeParts(group, await partsOf(request, name, call), call);
  // It may be in another resource group.
  return { vm: vm === undefined ? "missing" : "ended" };
}
