import { MachineError } from "@millwright/core";
import { specHashOf } from "@millwright/core/driver-kit";
import { hasFailed, operationError } from "../api/operation.ts";
import { isReclaimed, ownVm, vmsNamed } from "../vm/find-vm.ts";
import type { CreateRequest, MethodCall } from "../vm/method-call.ts";
import { ownerLabelKeys } from "../vm/owner-tags.ts";
import { providerIdOf } from "../vm/provider-id.ts";
import { untilDone } from "../vm/until-done.ts";
import { isHalted, isStarting, isStopping, nameIn, type Vm } from "../vm/vm.ts";
import { afterLaunch } from "./after-launch.ts";
import { endOfCreation } from "./end-of-creation.ts";
import type { Launch } from "./launch.ts";

/**
 * The VM of a machine that is there already.
 *
 * @throws MachineError AlreadyExists when its name is taken by a VM of another owner
 */
export async function existing(request: CreateRequest, call: MethodCall): Promise<Vm | undefined> {
  const { machine } = request;
  const named = await vmsNamed({ ...request, machine: { ...machine, providerId: "" } }, call);
  const own = ownVm(named, request, call);
  const [stranger] = named;
  if (own !== undefined || stranger === undefined) return own;
  throw new MachineError(
    "AlreadyExists",
    `VM ${providerIdOf(stranger.place, stranger.name)} does not belong to this machine "${machine.name}", but to an earlier one or another owner; delete it first`,
  );
}

/**
 * Takes a VM that is there already, once it is sure to stay.
 *
 * @throws MachineError AlreadyExists for one that was made from another spec; Aborted with a spent token for one that Compute Engine has taken back
 */
export const adopt = (vm: Vm, launch: Launch, call: MethodCall): Promise<Vm> =>
  take(vm, launch, call).catch(afterLaunch(call, `looking at VM ${providerIdOf(vm.place, vm.name)}`));

async function take(vm: Vm, launch: Launch, call: MethodCall): Promise<Vm> {
  const { place, name } = vm;
  const id = providerIdOf(place, name);
  const hash = vm.labels[ownerLabelKeys.specHash] ?? "";
  // A VM of MCM's driver has no hash of its spec.
  if (hash !== "" && hash !== specHashOf(launch.spec)) {
    throw new MachineError("AlreadyExists", `VM ${id} of this machine was created from another providerSpec`);
  }
  if (isStopping(vm))
    throw new MachineError("Unavailable", `VM ${id} is being stopped, suspended or deleted (${vm.status})`);
  if (isHalted(vm) && (await isReclaimed(vm, call))) return removeReclaimed(vm, call);
  return settled(vm, launch, call);
}

/** Deletes a VM that Compute Engine reclaimed before it was used, so that the next attempt creates another one. */
async function removeReclaimed(vm: Vm, call: MethodCall): Promise<never> {
  const { session, context, random } = call;
  const what = `deleting the reclaimed VM ${vm.name}`;
  const begun = await session.api.deleteInstance(vm.place, vm.name, random.uuid(), context.signal);
  const done = await untilDone(begun, vm.place, call);
  if (hasFailed(done)) throw operationError(done, what);
  throw new MachineError(
    "Aborted",
    `VM ${vm.name} was reclaimed before it could be used: Compute Engine took the spot VM back`,
    {
      tokenIsSpent: true,
    },
  );
}

/** Waits for the operation that makes a VM, if it still goes on: should it fail, it takes the VM away again. */
async function settled(vm: Vm, launch: Launch, call: MethodCall): Promise<Vm> {
  if (!isStarting(vm)) return vm;
  const { session, context } = call;
  const candidate = { machineType: nameIn(vm.instance.machineType), zone: vm.place.zone };
  const inserts = await session.insertions(vm.place, context);
  const begun = inserts.find(({ targetId }) => targetId === vm.id);
  const done = begun === undefined ? undefined : await untilDone(begun, vm.place, call);
  if (done !== undefined && hasFailed(done)) throw await endOfCreation(done, launch, candidate, call);
  return vm;
}
