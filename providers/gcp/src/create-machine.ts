import { type CreateMachineRequest, type CreateMachineResponse, MachineError } from "@millwright/core";
import { toMachineError } from "./api/errors.ts";
import { isReclaimed, ownVm, vmsNamed } from "./vm/find-vm.ts";
import { isInsertionRefused, isRefusal } from "./api/gce-failure.ts";
import { candidatesOf, instanceResource, type Launch, type LaunchCandidate, requestIdOf } from "./launch/vm-input.ts";
import { type LeftDisk, removeLeftDisks } from "./vm/left-disks.ts";
import type { MethodCall } from "./vm/method-call.ts";
import { hasFailed, type Operation, operationError } from "./api/operation.ts";
import { labelValueOf, ownerLabelKeys, specHashOf } from "./vm/owner-tags.ts";
import { type Place, providerIdOf } from "./vm/provider-id.ts";
import type { GcpSpec } from "./spec/spec.ts";
import { untilDone } from "./vm/until-done.ts";
import { isHalted, isStarting, isStopping, nameIn, referenceOf, type Vm } from "./vm/vm.ts";

/** The contract allows 4 KiB. */
const longestMessage = 4_000;

type Creation = CreateMachineRequest<GcpSpec>;

/** Makes the VM of a machine, or finds the one that an earlier try has made. */
export async function createMachine(request: Creation, call: MethodCall): Promise<CreateMachineResponse> {
  const { machine, machineClass, idempotencyToken, userData } = request;
  const launch: Launch = {
    spec: machineClass.spec,
    project: call.project,
    machine,
    machineClass: machineClass.name,
    userData,
    token: idempotencyToken,
  };
  const there = await existing(request, call);
  return referenceOf(there === undefined ? await makeVm(launch, request, call) : await takeOver(there, launch, call));
}

/**
 * The VM of a machine that is there already.
 *
 * @throws MachineError AlreadyExists when its name is taken by somebody else's
 */
async function existing(request: Creation, call: MethodCall): Promise<Vm | undefined> {
  const { machine } = request;
  const named = await vmsNamed({ ...request, machine: { ...machine, providerId: "" } }, call);
  const own = ownVm(named, request, call);
  const [stranger] = named;
  if (own !== undefined || stranger === undefined) return own;
  throw new MachineError(
    "AlreadyExists",
    `VM ${providerIdOf(stranger.place, stranger.name)} is not of this machine "${machine.name}", but of an earlier one or somebody else's; it must be deleted first`,
  );
}

/** Tries the candidates in their order, until there is capacity for one. */
async function makeVm(launch: Launch, request: Creation, call: MethodCall): Promise<Vm> {
  const refusals: MachineError[] = [];
  for (const candidate of candidatesOf(launch.spec)) {
    try {
      return await makeCandidate(launch, candidate, request, call);
    } catch (error) {
      const failure = toMachineError(error, call.context.signal, scopeOf(launch, candidate));
      if (failure.code !== "ResourceExhausted") throw failure;
      refusals.push(failure);
    }
  }
  const retryAfterMs = Math.max(0, ...refusals.map((refusal) => refusal.retryAfterMs ?? 0));
  throw new MachineError(
    "ResourceExhausted",
    refusals
      .map(({ message }) => message)
      .join("; ")
      .slice(0, longestMessage),
    {
      cause: refusals.at(-1),
      tokenIsSpent: true,
      ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    },
  );
}

const scopeOf = ({ project }: Launch, { machineType, zone }: LaunchCandidate): string =>
  `making ${machineType} in ${zone} (${project})`;

/**
 * The name of an instance is unique in its zone and its request id follows from the token, so that neither a repetition nor another process makes a second one. Compute Engine takes
 * the instance of an operation that fails away itself.
 */
async function makeCandidate(
  launch: Launch,
  candidate: LaunchCandidate,
  request: Creation,
  call: MethodCall,
): Promise<Vm> {
  const { session, context } = call;
  const place: Place = { project: launch.project, zone: candidate.zone };
  try {
    const done = await insert(launch, candidate, place, call);
    if (hasFailed(done)) throw await endOfCreation(done, launch, candidate, call);
  } catch (error) {
    if (!isRefusal(error, "alreadyExists")) throw error;
    const there = await existing(request, call);
    if (there !== undefined) return takeOver(there, launch, call);
    // Something else of that name: a disk.
    throw (await clearTheWay(launch, place, call)) ?? error;
  }
  const made = await session.find(place, launch.machine.name, context);
  if (made !== undefined) return made;
  throw new MachineError("Aborted", `VM ${providerIdOf(place, launch.machine.name)} was made and is gone again`, {
    tokenIsSpent: true,
  });
}

/** Asks for the VM, and waits for the operation that makes it. Remembers the machine where it does not learn how that ends. */
async function insert(launch: Launch, candidate: LaunchCandidate, place: Place, call: MethodCall): Promise<Operation> {
  const { session, context, launches } = call;
  const { machine, token } = launch;
  const requestId = requestIdOf(token, candidate);
  const begun = await session.api
    .insertInstance(place, instanceResource(launch, candidate), requestId, context.signal)
    .catch((error: unknown) => {
      if (!isInsertionRefused(error)) launches.asked(machine);
      throw error;
    });
  return untilDone(begun, place, call).catch((error: unknown) => {
    launches.asked(machine);
    throw error;
  });
}

/** The error of a creation that has failed. Deletes what it has left, for nobody has used it: Compute Engine takes away by itself what goes with the VM. */
async function endOfCreation(
  operation: Operation,
  launch: Launch,
  candidate: LaunchCandidate,
  call: MethodCall,
): Promise<MachineError> {
  const { spec, project, machine, token } = launch;
  if (!spec.disks.every(({ autoDelete }) => autoDelete)) {
    const uid = labelValueOf(machine.uid);
    const label = labelValueOf(token);
    const isOfCreation = (disk: LeftDisk): boolean => disk.machineUid === uid && disk.token === label;
    await removeLeftDisks({ project, zone: candidate.zone }, isOfCreation, call);
  }
  // The request id goes on standing for an operation that came to nothing.
  return operationError(operation, scopeOf(launch, candidate), { tokenIsSpent: true });
}

/** Deletes disks of this machine whose VM somebody has deleted without them, and says so; undefined when there are none. */
async function clearTheWay({ machine }: Launch, place: Place, call: MethodCall): Promise<MachineError | undefined> {
  const uid = labelValueOf(machine.uid);
  const gone = await removeLeftDisks(place, (disk) => disk.machineUid === uid && !disk.isKept, call);
  if (gone.length === 0) return undefined;
  const names = gone.toSorted().join(", ");
  return new MachineError(
    "Aborted",
    `disks of an earlier VM of machine "${machine.name}" were in the way and have been deleted: ${names}`,
  );
}

/** Takes a VM that is there already, once it is sure to stay. */
async function takeOver(vm: Vm, launch: Launch, call: MethodCall): Promise<Vm> {
  const { place, name } = vm;
  const id = providerIdOf(place, name);
  const hash = vm.labels[ownerLabelKeys.specHash] ?? "";
  // One that MCM's driver made does not say what it was made from.
  if (hash !== "" && hash !== specHashOf(launch.spec)) {
    throw new MachineError("AlreadyExists", `VM ${id} of this machine was made from another providerSpec`);
  }
  if (isStopping(vm)) throw new MachineError("Unavailable", `VM ${id} is being stopped or deleted (${vm.status})`);
  if (isHalted(vm) && (await isReclaimed(vm, call))) return giveUp(vm, call);
  return settled(vm, launch, call);
}

/** A VM that Compute Engine took back before anybody used it: it goes, and the next attempt makes another one. */
async function giveUp(vm: Vm, call: MethodCall): Promise<never> {
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
