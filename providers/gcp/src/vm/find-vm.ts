import { MachineError } from "@millwright/core";
import { severalVms } from "@millwright/core/driver-kit";
import { type GcpSpec, isSpot } from "../spec/spec.ts";
import type { GcpRequest, MethodCall } from "./method-call.ts";
import { isOwnedBy } from "./owner-tags.ts";
import { type InstancePlace, providerIdOf, readProviderId } from "./provider-id.ts";
import { isHalted, nameIn, type Vm } from "./vm.ts";

/** Where a VM of a machine can be: in the zone of its id, or in one of those of its class. */
export function placesOf(
  { machine, machineClass }: GcpRequest,
  { session: { project } }: MethodCall,
): readonly InstancePlace[] {
  const { providerId = "" } = machine;
  if (providerId !== "") return [readProviderId(providerId)];
  return zonesOf(machineClass.spec).map((zone) => ({ project, zone, name: machine.name }));
}

/** The zones of a class: its own, and those of its fallbacks. */
export const zonesOf = ({ zone, fallbacks }: GcpSpec): readonly string[] => [
  ...new Set([zone, ...fallbacks.map((fallback) => fallback.zone ?? zone)]),
];

/** VMs that have the name of a machine, ours or not. */
export async function vmsNamed(request: GcpRequest, call: MethodCall): Promise<readonly Vm[]> {
  const found = await Promise.all(
    placesOf(request, call).map(({ project, zone, name }) => call.session.find({ project, zone }, name, call.context)),
  );
  return found.filter((vm) => vm !== undefined);
}

/**
 * The one VM of a machine, out of those that carry its name.
 *
 * @throws MachineError OutOfRange when there are several
 */
export function ownVm(vms: readonly Vm[], { machine }: GcpRequest, { keys }: MethodCall): Vm | undefined {
  const own = vms.filter((vm) => isOwnedBy(vm, keys, machine));
  if (own.length > 1) {
    throw severalVms(
      machine,
      own.map(({ place, name }) => providerIdOf(place, name)),
    );
  }
  return own[0];
}

/**
 * The one VM of a machine. A machine with a provider id has exactly that VM, also when its tags were removed: a caller that is informed that it does not exist
 * would make another one.
 *
 * @throws MachineError NotFound, with the reason where Compute Engine has taken it back; OutOfRange when there are several
 */
export async function findVm(request: GcpRequest, call: MethodCall): Promise<Vm> {
  const { machine } = request;
  const named = await vmsNamed(request, call);
  const vm = (machine.providerId ?? "") === "" ? ownVm(named, request, call) : named[0];
  if (vm !== undefined && !(await isReclaimed(vm, call))) return vm;
  const end = vm === undefined ? await endOf(request, call) : reclaimed(vm.name);
  throw new MachineError("NotFound", `there is no VM for machine "${machine.name}"${end}`);
}

const reclaimed = (name: string): string => `; ${name} was reclaimed: Compute Engine took the spot VM back`;

/** Whether a VM is stopped because Compute Engine has taken it back. Asks only about those that it may take. */
export async function isReclaimed(vm: Vm, { session, context }: MethodCall): Promise<boolean> {
  const { scheduling } = vm.instance;
  const canBe = scheduling?.preemptible === true || scheduling?.provisioningModel === "SPOT";
  if (!canBe || !isHalted(vm)) return false;
  const operations = await session.reclamations(vm.place, context);
  return operations.some(({ targetId }) => targetId === vm.id);
}

/** Why a VM is gone altogether, where its class has spot VMs. */
async function endOf(request: GcpRequest, call: MethodCall): Promise<string> {
  const { machine, machineClass } = request;
  // A machine that never had a VM has no reason.
  if ((machine.providerId ?? "") === "" || !isSpot(machineClass.spec)) return "";
  for (const { project, zone, name } of placesOf(request, call)) {
    const operations = await call.session.reclamations({ project, zone }, call.context);
    if (operations.some(({ targetLink }) => nameIn(targetLink) === name)) return reclaimed(name);
  }
  return "";
}
