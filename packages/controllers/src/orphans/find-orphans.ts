import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import type { Machine } from "@millwright/core/machine-api";
import { ownsVm } from "@millwright/core/driver-kit";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { readIntent } from "../model/creation-intent.ts";
import { isDeleting } from "../model/phase.ts";
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

/** Whether a machine has exactly the VM that it names, so that another VM with its marks is one too many: nothing about it is unknown or in progress. */
const isSettled = (machine: Machine): boolean =>
  providerIdKey(machine.spec.providerID) !== undefined &&
  !isProvisioning(machine) &&
  !isDeleting(machine) &&
  shapeProblemsOf(machine).length === 0;

/** By key of their id, the VMs of a list whose marks name a machine. */
const idsOfMarked = (vms: readonly ListedMachine[], { metadata }: Machine): ReadonlySet<string | undefined> =>
  new Set(
    vms
      .filter(({ machineName, machineUid, parts }) => {
        const isNamed = machineName === metadata.name && (machineUid === undefined || machineUid === metadata.uid);
        return isNamed && parts === undefined;
      })
      .map(({ providerId }) => providerIdKey(providerId)),
  );

/**
 * The VMs that no machine owns, whatever its phase: none has the UID of the VM, names it as `spec.providerID` or in the intent of its creation, or owns it by name. A VM with the marks of a machine that names another one is
 * owned by none, if the list has that one, too, with the same marks: a driver made two. VMs of other namespaces are left out: other controllers know their machines.
 *
 * @param listed all VMs of the list. Default: `vms`
 */
export function findOrphans(
  vms: readonly ListedMachine[],
  machines: readonly Machine[],
  namespace: string,
  listed: readonly ListedMachine[] = vms,
): readonly ListedMachine[] {
  const byUid = new Map(machines.map((machine) => [machine.metadata.uid, machine]));
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const ids = new Set(
    machines.flatMap((machine) => [
      providerIdKey(machine.spec.providerID),
      providerIdKey(readIntent(machine)?.foreignVm),
    ]),
  );
  const isSurplus = (machine: Machine): boolean =>
    isSettled(machine) && idsOfMarked(listed, machine).has(providerIdKey(machine.spec.providerID));
  const isOwned = (vm: ListedMachine): boolean => {
    if (ids.has(providerIdKey(vm.providerId))) return true;
    const marked = byUid.get(vm.machineUid ?? "");
    const named = byName.get(vm.machineName);
    const owner = marked ?? (named !== undefined && ownsByName(named, vm) ? named : undefined);
    return owner !== undefined && !isSurplus(owner);
  };
  return vms.filter((vm) => (vm.machineNamespace ?? namespace) === namespace && !isOwned(vm));
}
