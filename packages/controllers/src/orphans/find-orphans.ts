import { type ListedMachine, type Machine, providerIdKey } from "@millwright/core";
import { ownsVm } from "@millwright/core/driver-kit";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { readIntent } from "../model/creation-intent.ts";
import { isProvisioning } from "../model/provisioning.ts";

/** Whether a machine of the same name may own the VM: by the rule of all drivers, and in doubt. */
function ownsByName(machine: Machine, vm: ListedMachine): boolean {
  // The id of one that is being created, or that cannot be read, is not known yet.
  if (isProvisioning(machine) || shapeProblemsOf(machine).length > 0) return true;
  const { name, namespace = "", uid = "" } = machine.metadata;
  return ownsVm(
    { name, namespace, uid },
    {
      machineName: vm.machineName,
      machineUid: vm.machineUid ?? "",
      namespace: vm.machineNamespace ?? "",
      isOfCluster: true,
      isNamedById: false,
    },
  );
}

/**
 * The VMs that no machine owns, whatever its phase: none has the UID of the VM, names it as `spec.providerID` or in the intent of its creation, or owns it by name. VMs of other namespaces are left out:
 * other controllers know their machines.
 */
export function findOrphans(
  vms: readonly ListedMachine[],
  machines: readonly Machine[],
  namespace: string,
): readonly ListedMachine[] {
  const uids = new Set(machines.map(({ metadata }) => metadata.uid));
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const ids = new Set(
    machines.flatMap((machine) => [
      providerIdKey(machine.spec.providerID),
      providerIdKey(readIntent(machine)?.foreignVm),
    ]),
  );
  const isOwned = (vm: ListedMachine): boolean => {
    const named = byName.get(vm.machineName);
    return (
      uids.has(vm.machineUid ?? "") ||
      ids.has(providerIdKey(vm.providerId)) ||
      (named !== undefined && ownsByName(named, vm))
    );
  };
  return vms.filter((vm) => (vm.machineNamespace ?? namespace) === namespace && !isOwned(vm));
}
