import type { VirtualMachine } from "@azure/arm-compute";
import { type CreateMachineRequest, type CreateMachineResponse, MachineError } from "@millwright/core";
import { poll } from "@millwright/core/driver-kit";
import { removeVm } from "./delete-machine.ts";
import { readSdkFailure, toMachineError } from "./errors.ts";
import { candidatesOf, type Launch, type LaunchCandidate } from "./launch.ts";
import type { MethodCall } from "./method-call.ts";
import { dataDiskNameOf, isSameName, nameInId, nicNameOf, vmNameFor } from "./names.ts";
import { isOfCluster, isOwnedBy, ownerTagKeys, specHashOf, tagOf, tagsOf } from "./owner-tags.ts";
import { diskInput, nicInput } from "./part-inputs.ts";
import { partsOf, removeParts } from "./parts.ts";
import { planOf } from "./plan-of.ts";
import { referenceOf } from "./reference.ts";
import type { AzureSpec } from "./spec.ts";
import { isGiven } from "./spec-storage.ts";
import { throwAwayPublicKey } from "./ssh-key.ts";
import { vmInput } from "./vm-input.ts";
import { stateOf } from "./vm-state.ts";

type Request = CreateMachineRequest<AzureSpec>;

/** Makes the VM of a machine with its NIC and its disks, or finds what an earlier try has made. */
export async function createMachine(request: Request, call: MethodCall): Promise<CreateMachineResponse> {
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
  // Says what is wrong with the user data before anything is made.
  for (const candidate of candidatesOf(spec)) vmInput(launch, candidate);
  await ensureNic(launch, call);
  await makeVm(request, launch, call);
  return referenceOf(spec, vmName);
}

/**
 * What to do with a VM of that name: it is the answer when it was made for this machine from this spec. One that never came up, or that Azure took back, is
 * removed with its disks, since there is but one name.
 */
async function adopt(request: Request, found: VirtualMachine, call: MethodCall): Promise<"adopted" | "removed"> {
  const { machine, machineClass } = request;
  const { spec } = machineClass;
  const name = found.name ?? "";
  if (!isOwnedBy(found.tags, call.keys, machine)) {
    const owner = isOfCluster(found.tags, call.keys) ? "of an earlier machine of this name" : "of somebody else";
    throw new MachineError(
      "AlreadyExists",
      `VM "${name}" ${owner} exists in resource group "${spec.resourceGroup}"; it must be deleted first`,
    );
  }
  const state = stateOf(found);
  switch (state.kind) {
    case "deleting":
      throw new MachineError("Aborted", `VM "${name}" of this machine is still being deleted`);
    case "broken":
    case "reclaimed":
      await cleanUp(request, name, found, call);
      return "removed";
    case "creating":
    case "live":
  }
  const hash = tagOf(found.tags, ownerTagKeys.specHash);
  if (hash !== "" && hash !== specHashOf(spec)) {
    throw new MachineError("AlreadyExists", `VM "${name}" of this machine was made from another providerSpec`);
  }
  if (state.kind === "creating") await untilMade(request, name, call);
  return "adopted";
}

/** Waits for the end of a creation that an earlier try began: a lack of capacity is only told then. */
async function untilMade(request: Request, name: string, call: MethodCall): Promise<void> {
  const { session, context, random, pollMs } = call;
  const group = request.machineClass.spec.resourceGroup;
  const made = await poll({ clock: context.clock, signal: context.signal, random, pauseMs: pollMs }, async () => {
    const vm = await session.vm(group, name, context);
    if (vm === undefined) throw new MachineError("Aborted", `VM "${name}" has been deleted while it was being made`);
    return stateOf(vm).kind === "creating" ? undefined : vm;
  });
  const state = made === undefined ? undefined : stateOf(made);
  if (made === undefined || state?.kind !== "broken") return;
  const failure = toMachineError(
    Object.assign(new Error(state.message), { code: state.code, statusCode: 200 }),
    context.signal,
    `making VM "${name}"`,
  );
  await cleanUp(request, name, made, call);
  throw new MachineError(failure.code, failure.message, { tokenIsSpent: true });
}

/** Removes a VM of ours that is of no use, and what was made for it; the NIC may be of use to the next candidate. */
async function cleanUp(
  request: Request,
  name: string,
  vm: VirtualMachine | undefined,
  call: MethodCall,
  keeps: "nothing" | "nic" = "nothing",
): Promise<void> {
  const group = request.machineClass.spec.resourceGroup;
  if (vm !== undefined && isOwnedBy(vm.tags, call.keys, request.machine)) await removeVm(group, vm, call);
  const parts = await partsOf(request, name, call);
  await removeParts(group, keeps === "nic" ? { ...parts, nics: [] } : parts, call);
}

async function ensureNic({ spec, machine, vmName, ...launch }: Launch, call: MethodCall): Promise<void> {
  const { session, context, keys } = call;
  const name = nicNameOf(vmName);
  const found = (await session.nics(spec.resourceGroup, context)).find((nic) => isSameName(nic.name, name));
  if (found !== undefined && !isOfCluster(found.tags, keys)) {
    throw new MachineError(
      "AlreadyExists",
      `NIC "${name}" of somebody else exists in resource group "${spec.resourceGroup}"; it must be deleted first`,
    );
  }
  const holder = found?.virtualMachine?.id ?? "";
  if (holder !== "" && !isSameName(nameInId(holder), vmName)) {
    throw new MachineError("FailedPrecondition", `NIC "${name}" is attached to VM "${nameInId(holder)}"`);
  }
  const isReady = found?.provisioningState === "Succeeded" && isOwnedBy(found.tags, keys, machine);
  if (isReady) return;
  try {
    await session.api.putNic(spec.resourceGroup, name, nicInput({ spec, machine, vmName, ...launch }), context.signal);
  } catch (error) {
    throw toMachineError(error, context.signal, `making NIC "${name}" in subnet "${spec.subnetInfo.subnetName}"`);
  }
}

/** Tries the candidates in their order, until there is capacity for one. What there is no capacity for leaves nothing behind. */
async function makeVm(request: Request, launch: Launch, call: MethodCall): Promise<void> {
  const { spec, vmName } = launch;
  const { signal } = call.context;
  const candidates = candidatesOf(spec);
  const refusals: string[] = [];
  for (const [index, candidate] of candidates.entries()) {
    // It may have gone with the VM of the candidate before.
    if (index > 0) await ensureNic(launch, call);
    const where = candidate.zone === undefined ? "" : ` in zone ${candidate.zone}`;
    try {
      return await makeCandidate(request, launch, candidate, call);
    } catch (error) {
      const failure = toMachineError(error, signal, `making ${candidate.vmSize}${where} (${spec.location})`);
      if (failure.code !== "ResourceExhausted") throw failure;
      refusals.push(failure.message);
    }
    try {
      const left = await call.session.api.getVm(spec.resourceGroup, vmName, signal);
      // Azure keeps a NIC for a VM that failed for three minutes: it cannot be made anew for the next one.
      await cleanUp(request, vmName, left, call, index < candidates.length - 1 ? "nic" : "nothing");
    } catch (error) {
      const failure = toMachineError(error, signal, "removing what is left");
      throw new MachineError("ResourceExhausted", [...refusals, failure.message].join("; "), { cause: failure });
    }
  }
  throw new MachineError("ResourceExhausted", refusals.join("; "));
}

async function makeCandidate(
  request: Request,
  launch: Launch,
  candidate: LaunchCandidate,
  call: MethodCall,
): Promise<void> {
  const { spec, vmName } = launch;
  const { api } = call.session;
  const { signal } = call.context;
  for (const disk of spec.properties.storageProfile.dataDisks) {
    if (disk.imageRef === undefined) continue;
    const input = diskInput(launch, candidate, disk, disk.imageRef);
    await api.putDisk(spec.resourceGroup, dataDiskNameOf(vmName, disk), input, signal);
  }
  try {
    await api.createVm(spec.resourceGroup, vmName, vmInput(launch, candidate), signal);
  } catch (error) {
    // There is one: of a try whose answer was lost, of another process, or of somebody else.
    if (readSdkFailure(error).status !== 412) throw error;
    const found = await call.session.vm(spec.resourceGroup, vmName, call.context);
    if (found !== undefined && (await adopt(request, found, call)) === "adopted") return;
    throw new MachineError("Aborted", `VM "${vmName}" came and went while it was being made`);
  }
}
