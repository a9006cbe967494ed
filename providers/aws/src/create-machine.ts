import { type CreateMachineResponse, MachineError } from "@millwright/core";
import { adopt } from "./launch/adopt.ts";
import type { Launch } from "./launch/launch.ts";
import { createVm } from "./launch/create-vm.ts";
import { ready } from "./launch/ready.ts";
import type { CreateRequest, MethodCall } from "./vm/method-call.ts";
import { isOfCluster, isOwnedBy } from "./vm/owner-tags.ts";
import { isLive, ownLiveVm, referenceOf } from "./vm/vm.ts";

/** Makes the VM of a machine, or finds the one that an earlier try has made. */
export async function createMachine(request: CreateRequest, call: MethodCall): Promise<CreateMachineResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  const { session, keys, context } = call;
  const { spec } = machineClass;
  const named = await session.named(machine.name, context);
  const own = ownLiveVm(named, keys, machine);
  if (own !== undefined) {
    const adopted = adopt(own, spec);
    return adopted.nodeName === "" ? ready(adopted, call) : referenceOf(adopted);
  }
  const stranger = named.find((vm) => isLive(vm) && isOfCluster(vm.tags, keys) && !isOwnedBy(vm, keys, machine));
  if (stranger !== undefined) {
    throw new MachineError(
      "AlreadyExists",
      `VM ${stranger.id} of an earlier machine "${machine.name}" still exists; delete it first`,
    );
  }
  const launch: Launch = {
    spec,
    machine,
    machineClass: machineClass.name,
    userData,
    token: idempotencyToken,
    rootDeviceName: await session.rootDevice(spec.ami, context),
  };
  return ready(await createVm(launch, call), call);
}
