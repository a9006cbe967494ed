import type { DriverOutcome, OperationResult, VmCall, VmListDriver } from "@millwright/controllers";
import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import { annotationKeys, type Machine } from "@millwright/core/machine-api";

/** The calls with which a VM is looked for. */
export interface VmFinder {
  find(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>>;
  readonly listsVms: VmListDriver["listsVms"];
  readonly list: VmListDriver["listVms"];
}

/** Whether a machine names a VM that may have been created for another one. Not known yet, and not about to be deleted. */
const mayHaveOtherVm = ({ metadata, spec }: Machine): boolean =>
  (spec.providerID ?? "") !== "" &&
  metadata.deletionTimestamp == null &&
  metadata.annotations?.[annotationKeys.vmName] === undefined;

/** The name of the Machine for which the VM was created that a machine names; `undefined` when the class has no such VM, or it is the machine's own. */
function nameOfVm({ metadata, spec }: Machine, vms: readonly ListedMachine[]): string | undefined {
  const { name, namespace = "" } = metadata;
  const key = providerIdKey(spec.providerID);
  const vm = vms.find(({ providerId, parts = [] }) => providerIdKey(providerId) === key && parts.length === 0);
  return vm === undefined || vm.machineName === name || (vm.machineNamespace ?? namespace) !== namespace
    ? undefined
    : vm.machineName;
}

/**
 * Finds the VM of a machine: by its name, as drivers do, and where they find none, by the id that the machine was given. The VM was then created for a Machine of another name, which lost it; the list of the class has
 * that name, with which the driver finds it. A list that fails is the outcome: only a complete one shows that there is no such VM.
 */
export async function findVmById(
  call: VmCall,
  { find, listsVms, list }: VmFinder,
  signal: AbortSignal,
): Promise<DriverOutcome<OperationResult>> {
  const found = await find(call, signal);
  const { machine, machineClass } = call;
  if (found.ok || found.error.code !== "NotFound" || !mayHaveOtherVm(machine) || !listsVms(machineClass)) return found;
  const listed = await list(call, signal);
  if (!listed.ok) return listed;
  const vmName = nameOfVm(machine, listed.value);
  if (vmName === undefined) return found;
  const annotations = { ...machine.metadata.annotations, [annotationKeys.vmName]: vmName };
  const again = await find(
    { ...call, machine: { ...machine, metadata: { ...machine.metadata, annotations } } },
    signal,
  );
  return again.ok ? { ok: true, value: { ...again.value, vmName } } : again;
}
