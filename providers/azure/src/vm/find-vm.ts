import type { VirtualMachine } from "@azure/arm-compute";
import { MachineError } from "@millwright/core";
import type { AzureRequest, MethodCall } from "./method-call.ts";
import { isOwnedBy } from "./owner-tags.ts";
import { vmNameIn } from "./provider-id.ts";
import { stateOf } from "./vm-state.ts";

/** The name of the VM that a request is about: that of its provider id, where it has one. */
export const vmNameOf = ({ machine: { name, providerId = "" } }: Pick<AzureRequest, "machine">): string =>
  providerId === "" ? name : vmNameIn(providerId);

/**
 * The VM of a machine that is not terminating. A machine with a provider id has exactly that VM, also when its tags were removed: a caller that is informed that it
 * does not exist would make another one.
 *
 * @throws MachineError NotFound, with the reason of Azure for its deletion
 */
export async function findVm(request: AzureRequest, { session, keys, context }: MethodCall): Promise<VirtualMachine> {
  const { machine, machineClass } = request;
  const { resourceGroup, properties } = machineClass.spec;
  const name = vmNameOf(request);
  const vm = await session.vm(resourceGroup, name, context);
  const missing = (why: string): MachineError => new MachineError("NotFound", `machine "${machine.name}": ${why}`);
  if (vm === undefined) {
    const hint =
      properties.priority === "Spot" && properties.evictionPolicy === "Delete"
        ? "; Azure deletes the spot VMs of this class when it takes them back"
        : "";
    throw missing(`there is no VM "${name}" in resource group "${resourceGroup}"${hint}`);
  }
  if ((machine.providerId ?? "") === "" && !isOwnedBy({ vmName: name, tags: vm.tags }, keys, machine)) {
    throw missing(`VM "${name}" in resource group "${resourceGroup}" belongs to another owner`);
  }
  const state = stateOf(vm);
  switch (state.kind) {
    case "live":
      return vm;
    case "creating":
      // Azure reports a lack of capacity only at the end: until then `createMachine` decides the result, unless it has already.
      if ((machine.providerId ?? "") !== "") return vm;
      throw missing(`VM "${name}" is still being created`);
    case "deleting":
      throw missing(`VM "${name}" is being deleted`);
    case "reclaimed":
      throw missing(`spot VM "${name}" was reclaimed: Azure took it back, it is deallocated`);
    case "broken":
      throw missing(`VM "${name}" did not start${state.code === "" ? "" : ` (${state.code})`}`);
  }
}
