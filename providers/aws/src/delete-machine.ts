import { type DeleteMachineResponse, MachineError } from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import { isRefusal } from "./errors.ts";
import { type AwsRequest, type MethodCall, pausesOf } from "./method-call.ts";
import { isOwnedBy, ownerTagKeys } from "./owner-tags.ts";
import { readProviderId } from "./provider-id.ts";
import { isTerminated, type Vm } from "./vm.ts";

/**
 * Terminates the VM of a machine and waits until it has ended, since a kubelet that still runs would register its node again. Volumes and interfaces go with it,
 * unless the class says that they stay.
 */
export async function deleteMachine(request: AwsRequest, call: MethodCall): Promise<DeleteMachineResponse> {
  const { session, context } = call;
  const going = await vmsToDelete(request, call);
  for (const { id } of going) {
    try {
      await session.api.terminateInstance(id, context.signal);
    } catch (error) {
      if (!isRefusal(error, "InvalidInstanceID.NotFound")) throw error;
    }
  }
  await Promise.all(going.map((vm) => untilEnded(vm, call)));
  return {};
}

/**
 * With a provider id exactly that VM, since an orphan may carry the name of a machine that is fine; otherwise all VMs of the machine. Those on their way out
 * count: the deletion ends when they have ended.
 */
async function vmsToDelete({ machine }: AwsRequest, call: MethodCall): Promise<readonly Vm[]> {
  const { session, keys, context, patience, launches } = call;
  const { providerId = "" } = machine;
  if (providerId !== "") {
    const { instanceId } = readProviderId(providerId);
    const vm = await session.byId(instanceId, context);
    if (vm === undefined || isTerminated(vm)) return [];
    if (isOwnedBy(vm.tags, keys, machine)) return [vm];
    throw new MachineError(
      "PermissionDenied",
      `VM ${vm.id} does not carry the tags of machine "${machine.name}": "${ownerTagKeys.name}" with its name, and "${ownerTagKeys.machineUid}" with its UID or, without that tag, "${keys.cluster}" and "${keys.role}"; it is left alone. Should it be that machine's: put the tags on it`,
    );
  }
  const find = async (): Promise<readonly Vm[]> =>
    (await session.named(machine.name, context)).filter((vm) => isOwnedBy(vm.tags, keys, machine));
  let own = await find();
  if (own.length === 0 && launches.mayBeHidden(machine)) {
    await context.clock.sleep(patience.lookAgainMs, context.signal);
    own = await find();
  }
  return own.filter((vm) => !isTerminated(vm));
}

async function untilEnded({ id }: Vm, call: MethodCall): Promise<void> {
  await poll(pausesOf(call), async () => {
    const vm = await call.session.byId(id, call.context);
    return vm === undefined || isTerminated(vm) ? true : undefined;
  });
}
