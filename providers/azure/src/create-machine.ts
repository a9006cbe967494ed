import type { CreateMachineResponse, PendingResponse } from "@millwright/core";
import { adopt } from "./launch/adopt.ts";
import { ensureNic } from "./launch/ensure-nic.ts";
import { candidatesOf, type Launch } from "./launch/launch.ts";
import { createVm } from "./launch/create-vm.ts";
import { planOf } from "./launch/plan-of.ts";
import { throwAwayPublicKey } from "./launch/ssh-key.ts";
import { vmInput } from "./launch/vm-input.ts";
import { isGiven } from "./spec/storage.ts";
import type { CreateRequest, MethodCall } from "./vm/method-call.ts";
import { vmNameFor } from "./vm/names.ts";
import { orPending } from "./vm/or-pending.ts";
import { tagsOf } from "./vm/owner-tags.ts";
import { referenceOf } from "./vm/reference.ts";

/** Makes the VM of a machine with its NIC and its disks, or finds what an earlier try has made. Pending while Azure needs longer than a call has. */
export const createMachine = (
  request: CreateRequest,
  call: MethodCall,
): Promise<CreateMachineResponse | PendingResponse> =>
  orPending(call, `Azure creates VM "${request.machine.name}"`, (limited) => create(request, limited));

async function create(request: CreateRequest, call: MethodCall): Promise<CreateMachineResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  const { spec } = machineClass;
  const { session, context } = call;
  const { imageReference, dataDisks } = spec.properties.storageProfile;
  const vmName = vmNameFor(machine, dataDisks);
  const found = await session.vm(spec.resourceGroup, vmName, context);
  if (found !== undefined && (await adopt(request, found, call)) === "adopted") return referenceOf(spec, vmName);
  const publicKey = spec.properties.osProfile.linuxConfiguration.ssh?.publicKeys?.keyData;
  const launch: Launch = {
    spec,
    machine,
    vmName,
    subscriptionId: session.subscriptionId,
    userData,
    tags: tagsOf(spec, machine, machineClass.name, idempotencyToken),
    plan: await planOf(spec, imageReference, call),
    publicKey: isGiven(publicKey) ? publicKey : await throwAwayPublicKey(),
  };
  // Rejects invalid user data before anything is created.
  for (const candidate of candidatesOf(spec)) vmInput(launch, candidate);
  await ensureNic(launch, call);
  await createVm(request, launch, call);
  return referenceOf(spec, vmName);
}
