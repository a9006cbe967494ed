import type { VirtualMachine } from "@azure/arm-compute";
import { MachineError } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import type { CreateRequest, MethodCall } from "../vm/method-call.ts";
import { isOfCluster, isOwnedBy, ownerTagKeys, specHashOf, tagOf } from "../vm/owner-tags.ts";
import { partsOf, removeParts } from "../vm/parts.ts";
import { removeVm } from "../vm/remove-vm.ts";
import { needsInstanceView, stateOf } from "../vm/vm-state.ts";

/**
 * What to do with a VM of that name: it is the answer when it was made for this machine from this spec. One that did not start, or that Azure took back, is
 * removed with its disks, since there is but one name.
 */
export async function adopt(
  request: CreateRequest,
  found: VirtualMachine,
  call: MethodCall,
): Promise<"adopted" | "removed"> {
  const { machine, machineClass } = request;
  const { spec } = machineClass;
  const name = found.name ?? "";
  if (!isOwnedBy({ vmName: name, tags: found.tags }, call.keys, machine)) {
    const owner = isOfCluster(found.tags, call.keys) ? "of an earlier machine of this name" : "of another owner";
    throw new MachineError(
      "AlreadyExists",
      `VM "${name}" ${owner} exists in resource group "${spec.resourceGroup}"; delete it first`,
    );
  }
  const state = stateOf(found);
  switch (state.kind) {
    case "deleting":
      throw new MachineError("Aborted", `VM "${name}" of this machine is still being deleted`);
    case "broken":
    case "reclaimed":
      await cleanUp(request, name, found, call);
      return "removed";
    case "creating":
    case "live":
  }
  const hash = tagOf(found.tags, ownerTagKeys.specHash);
  if (hash !== "" && hash !== specHashOf(spec)) {
    throw new MachineError("AlreadyExists", `VM "${name}" of this machine was created from another providerSpec`);
  }
  if (state.kind === "creating") await untilMade(request, name, call);
  return "adopted";
}

/** Waits for the end of a creation of an earlier attempt: a lack of capacity is only reported then. */
async function untilMade(request: CreateRequest, name: string, call: MethodCall): Promise<void> {
  const { session, context } = call;
  const group = request.machineClass.spec.resourceGroup;
  const settled = await session.api.settledVm(group, name, context.signal);
  const made = settled !== undefined && needsInstanceView(settled) ? await session.vm(group, name, context) : settled;
  if (made === undefined) throw new MachineError("Aborted", `VM "${name}" was deleted while it was being created`);
  const state = stateOf(made);
  if (state.kind !== "broken") return;
  const failure = toMachineError(
    Object.assign(new Error(state.message), { code: state.code, statusCode: 200 }),
    context.signal,
    `creating VM "${name}"`,
  );
  await cleanUp(request, name, made, call);
  throw new MachineError(failure.code, failure.message, { tokenIsSpent: true, cause: failure });
}

/** Removes a VM of ours that is of no use, and what was made for it; the NIC may be of use to the next candidate. */
export async function cleanUp(
  request: CreateRequest,
  name: string,
  vm: VirtualMachine | undefined,
  call: MethodCall,
  keeps: "nothing" | "nic" = "nothing",
): Promise<void> {
  const group = request.machineClass.spec.resourceGroup;
  if (vm !== undefined && isOwnedBy({ vmName: name, tags: vm.tags }, call.keys, request.machine))
    await removeVm(group, vm, call);
  const parts = await partsOf(request, name, call);
  await removeParts(group, keeps === "nic" ? { ...parts, nics: [] } : parts, call);
}
