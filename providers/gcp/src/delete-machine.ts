import { type DeleteMachineResponse, MachineError, type PendingResponse } from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import { isMissing, hasErrorReason } from "./api/gce-failure.ts";
import { hasFailed, isTargetMissing, operationError } from "./api/operation.ts";
import { placesOf, vmsNamed } from "./vm/find-vm.ts";
import { isOfNamedVm, type LeftoverDisk, mayHaveLeftoverDisks, removeLeftoverDisks } from "./vm/leftover-disks.ts";
import type { GcpRequest, MethodCall } from "./vm/method-call.ts";
import { isOwnedBy, labelValueOf, ownerLabelKeys } from "./vm/owner-tags.ts";
import { orPending } from "./vm/or-pending.ts";
import { untilDone } from "./vm/until-done.ts";
import type { Vm } from "./vm/vm.ts";

/**
 * Deletes the VM of a machine and waits until it is deleted, since a running kubelet would register its node again. Deletes the disks that were created for it, too, also when the VM was already
 * deleted without them. Keeps those that the class keeps, and those that were attached later.
 */
export function deleteMachine(request: GcpRequest, call: MethodCall): Promise<DeleteMachineResponse | PendingResponse> {
  const message = `Compute Engine is still deleting VM ${request.machine.name}`;
  return orPending(message, call, async (waiting) => {
    const going = await vmsToDelete(request, waiting);
    await Promise.all(going.map((vm) => remove(vm, waiting)));
    await removeLeftovers(request, going, waiting);
    return { vm: going.length > 0 ? "ended" : "missing" };
  });
}

/** Looks for leftover disks only if there may be some: normally all are deleted with the VM. */
async function removeLeftovers(request: GcpRequest, gone: readonly Vm[], call: MethodCall): Promise<void> {
  const { machine, machineClass } = request;
  if (gone.length > 0 && !gone.some((vm) => mayHaveLeftoverDisks(vm, machineClass.spec))) return;
  // An orphan has no machine, and a restored machine has another UID: use the UID in the label of the VM.
  const uids = new Set(gone.map(({ labels }) => labels[ownerLabelKeys.machineUid] ?? ""));
  if (machine.uid !== "") uids.add(labelValueOf(machine.uid));
  const places = gone.length > 0 ? gone.map(({ place }) => place) : placesOf(request, call);
  const isLeftover = (disk: LeftoverDisk): boolean =>
    !disk.isKept && (uids.has(disk.machineUid) || (gone.length === 0 && isOfNamedVm(disk, request)));
  await Promise.all(places.map((place) => removeLeftoverDisks(place, isLeftover, call)));
}

/** With a provider id exactly that VM, since an orphan may have the name of a healthy machine; otherwise all VMs of the machine. */
async function vmsToDelete(request: GcpRequest, call: MethodCall): Promise<readonly Vm[]> {
  const { machine } = request;
  const { keys, context, pollTimes, launches } = call;
  const own = (vms: readonly Vm[]): readonly Vm[] => vms.filter((vm) => isOwnedBy(vm, keys, machine));
  const named = await vmsNamed(request, call);
  if ((machine.providerId ?? "") !== "") {
    const [vm] = named;
    if (vm === undefined || isOwnedBy(vm, keys, machine)) return named;
    const otherwise =
      keys.cluster === "" || keys.role === ""
        ? "; the class has no cluster and role tags that could be used instead"
        : ` or else the tags "${keys.cluster}" and "${keys.role}" and no other namespace than "${machine.namespace}" in the label "${ownerLabelKeys.namespace}"`;
    throw new MachineError(
      "PermissionDenied",
      `VM ${vm.name} does not have the labels of machine "${machine.name}": its name, and its UID in the label "${ownerLabelKeys.machineUid}"${otherwise}. It is kept. If it belongs to the machine, add them to the VM`,
    );
  }
  // A VM of another owner takes the name in its own zone only.
  const found = own(named);
  if (found.length > 0 || !launches.mayBeHidden(machine)) return found;
  await context.clock.sleep(pollTimes.lookAgainMs, context.signal);
  return own(await vmsNamed(request, call));
}

async function remove(vm: Vm, call: MethodCall): Promise<void> {
  const { session, context, random, pollTimes } = call;
  const what = `deleting VM ${vm.name} in ${vm.place.zone} (${vm.place.project})`;
  if (vm.instance.deletionProtection === true) {
    throw new MachineError("FailedPrecondition", `${what}: deletionProtection of the VM is enabled; disable it`);
  }
  await poll({ ...context, random, pauseMs: pollTimes.pollMs }, async () => {
    if (await isDeletionOver(vm, what, call)) return true;
    // Another operation holds the VM: it is being created, or deleted by another client.
    const now = await session.find(vm.place, vm.name, context);
    return now === undefined || now.id !== vm.id ? true : undefined;
  });
}

/** Requests the deletion and waits for it; false when another operation conflicts. */
async function isDeletionOver({ place, name }: Vm, what: string, call: MethodCall): Promise<boolean> {
  const { session, context, random } = call;
  try {
    const begun = await session.api.deleteInstance(place, name, random.uuid(), context.signal);
    const done = await untilDone(begun, place, call);
    if (!hasFailed(done)) return true;
    if (isTargetMissing(done)) return false;
    const error = operationError(done, what);
    if (error.code === "Aborted") return false;
    throw error;
  } catch (error) {
    if (isMissing(error, `instances/${name}`)) return true;
    if (hasErrorReason(error, "resourceNotReady", "operationInProgress")) return false;
    throw error;
  }
}
