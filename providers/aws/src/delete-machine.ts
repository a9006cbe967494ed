import { type DeleteMachineResponse, MachineError, type PendingResponse } from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import { hasErrorCode } from "./api/errors.ts";
import { type AwsRequest, type MethodCall, pausesOf } from "./vm/method-call.ts";
import { isOwnedBy, ownerTagKeys } from "./vm/owner-tags.ts";
import { readProviderId } from "./vm/provider-id.ts";
import { isLive, isTerminated, type Vm } from "./vm/vm.ts";

/** For how long one call waits for the end of a VM, milliseconds. Most end within a minute; one with instance store or on a faulty hypervisor takes longer. */
const terminationWaitMs = 120_000;

/** When a VM that takes longer is looked at again, milliseconds. */
const checkTerminationAfterMs = 15_000;

/**
 * Terminates the VM of a machine and waits until it has ended, since a kubelet that still runs would register its node again; where that takes more than two minutes, the deletion is pending. Volumes and
 * interfaces are deleted with the VM, unless the class keeps them.
 */
export async function deleteMachine(
  request: AwsRequest,
  call: MethodCall,
): Promise<DeleteMachineResponse | PendingResponse> {
  const { session, context } = call;
  const own = await ownVms(request, call);
  const going = own.filter((vm) => !isTerminated(vm));
  for (const { id } of going) {
    try {
      await session.api.terminateInstance(id, context.signal);
    } catch (error) {
      if (!hasErrorCode(error, "InvalidInstanceID.NotFound")) throw error;
    }
  }
  const hasEnded = await Promise.all(going.map((vm) => endsInTime(vm, call)));
  const left = going.filter((_, index) => hasEnded[index] === false).map(({ id }) => id);
  if (left.length === 0) return { vm: showsLastVm(request, own) ? "ended" : "missing" };
  const message = `VM ${left.join(", ")} is shutting down in ${session.region}: EC2 has accepted its termination`;
  return { pending: { message, checkAfterMs: checkTerminationAfterMs } };
}

/**
 * Whether the VM of the last attempt is among those that were found. Without a provider id only a live one is sure to be: EC2 lists a VM of an earlier attempt that
 * has ended for about an hour, and an attempt is only followed by another one when its VM has ended.
 */
const showsLastVm = ({ machine: { providerId = "" } }: AwsRequest, found: readonly Vm[]): boolean =>
  providerId === "" ? found.some(isLive) : found.length > 0;

/** The VMs of a machine. Where one may have been accepted and is not shown yet, it is looked for once more. */
async function ownVms(request: AwsRequest, call: MethodCall): Promise<readonly Vm[]> {
  const { context, pollTimes, launches } = call;
  let found = await findOwn(request, call);
  if (!showsLastVm(request, found) && launches.mayBeHidden(request.machine)) {
    await context.clock.sleep(pollTimes.lookAgainMs, context.signal);
    found = await findOwn(request, call);
  }
  return found;
}

/**
 * With a provider id exactly that VM, since an orphan may have the name of a healthy machine; otherwise all VMs of the machine. Terminating ones
 * count: the deletion ends when they have ended.
 */
async function findOwn({ machine }: AwsRequest, { session, keys, context }: MethodCall): Promise<readonly Vm[]> {
  const { providerId = "" } = machine;
  if (providerId === "") {
    return (await session.named(machine.name, context)).filter((vm) => isOwnedBy(vm, keys, machine));
  }
  const vm = await session.byId(readProviderId(providerId).instanceId, context);
  if (vm === undefined) return [];
  if (isTerminated(vm) || isOwnedBy(vm, keys, machine)) return [vm];
  throw new MachineError(
    "PermissionDenied",
    `VM ${vm.id} does not carry the tags of machine "${machine.name}": "${ownerTagKeys.name}" with its name, and "${ownerTagKeys.machineUid}" with its UID or else "${keys.cluster}", "${keys.role}" and no other namespace than "${machine.namespace}" in "${ownerTagKeys.namespace}"; it is kept. Should it be that machine's: put the tags on it`,
  );
}

/** Whether a VM ends while this call waits. */
async function endsInTime({ id }: Vm, call: MethodCall): Promise<boolean> {
  const ended = await poll({ ...pausesOf(call), limitMs: terminationWaitMs }, async () => {
    const vm = await call.session.byId(id, call.context);
    return vm === undefined || isTerminated(vm) ? true : undefined;
  });
  return ended ?? false;
}
