import { MachineError } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import { isInsertRejected, hasErrorReason } from "../api/gce-failure.ts";
import { hasFailed, type Operation } from "../api/operation.ts";
import type { Place } from "../api/requests.ts";
import { removeLeftoverDisks } from "../vm/leftover-disks.ts";
import type { CreateRequest, MethodCall } from "../vm/method-call.ts";
import { labelValueOf } from "../vm/owner-tags.ts";
import { providerIdOf } from "../vm/provider-id.ts";
import { untilDone } from "../vm/until-done.ts";
import type { Vm } from "../vm/vm.ts";
import { adopt, existing } from "./adopt.ts";
import { afterLaunch } from "./after-launch.ts";
import { endOfCreation, scopeOf } from "./end-of-creation.ts";
import { candidatesOf, type Launch, type LaunchCandidate, requestIdOf } from "./launch.ts";
import { vmInput } from "./vm-input.ts";

/** The contract allows 4 KiB. */
const longestMessage = 4_000;

/** Requests the candidates in order, until there is capacity for one. */
export async function createVm(launch: Launch, request: CreateRequest, call: MethodCall): Promise<Vm> {
  const rejections: MachineError[] = [];
  for (const candidate of candidatesOf(launch.spec)) {
    try {
      return await createCandidate(launch, candidate, request, call);
    } catch (error) {
      const failure = toMachineError(error, call.context.signal, scopeOf(launch, candidate));
      if (failure.code !== "ResourceExhausted") throw failure;
      rejections.push(failure);
    }
  }
  const retryAfterMs = Math.max(0, ...rejections.map((rejection) => rejection.retryAfterMs ?? 0));
  throw new MachineError(
    "ResourceExhausted",
    rejections
      .map(({ message }) => message)
      .join("; ")
      .slice(0, longestMessage),
    {
      cause: rejections.at(-1),
      tokenIsSpent: true,
      ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    },
  );
}

/**
 * The name of an instance is unique in its zone and its request id follows from the token, so that neither a repetition nor another process makes a second one. Compute Engine takes
 * the instance of an operation that fails away itself.
 */
async function createCandidate(
  launch: Launch,
  candidate: LaunchCandidate,
  request: CreateRequest,
  call: MethodCall,
): Promise<Vm> {
  const { session, context } = call;
  const place: Place = { project: launch.project, zone: candidate.zone };
  try {
    const done = await insert(launch, candidate, place, call);
    if (hasFailed(done)) throw await endOfCreation(done, launch, candidate, call);
  } catch (error) {
    if (!hasErrorReason(error, "alreadyExists")) throw error;
    const there = await existing(request, call).catch(afterLaunch(call, scopeOf(launch, candidate)));
    if (there !== undefined) return adopt(there, launch, call);
    // Something else of that name: a disk.
    throw (await deleteOwnLeftovers(launch, place, call)) ?? error;
  }
  const made = await session
    .find(place, launch.machine.name, context)
    .catch(afterLaunch(call, scopeOf(launch, candidate)));
  if (made !== undefined) return made;
  throw new MachineError("Aborted", `VM ${providerIdOf(place, launch.machine.name)} was created and then deleted`, {
    tokenIsSpent: true,
  });
}

/** Asks for the VM, and waits for the operation that makes it. Remembers the machine where it does not learn how that ends. */
async function insert(launch: Launch, candidate: LaunchCandidate, place: Place, call: MethodCall): Promise<Operation> {
  const { session, context, launches } = call;
  const { machine, token } = launch;
  const requestId = requestIdOf(token, candidate);
  const begun = await session.api
    .insertInstance(place, vmInput(launch, candidate), requestId, context.signal)
    .catch((error: unknown) => {
      if (!isInsertRejected(error)) launches.asked(machine);
      throw error;
    });
  return untilDone(begun, place, call).catch((error: unknown) => {
    launches.asked(machine);
    return afterLaunch(call, scopeOf(launch, candidate))(error);
  });
}

/** Deletes disks of this machine that remain of a deleted VM, and returns an error; undefined when there are none. */
async function deleteOwnLeftovers(
  { machine }: Launch,
  place: Place,
  call: MethodCall,
): Promise<MachineError | undefined> {
  const uid = labelValueOf(machine.uid);
  const gone = await removeLeftoverDisks(place, (disk) => disk.machineUid === uid && !disk.isKept, call);
  if (gone.length === 0) return undefined;
  const names = gone.toSorted().join(", ");
  return new MachineError(
    "Aborted",
    `disks of an earlier VM of machine "${machine.name}" blocked the creation and were deleted: ${names}`,
  );
}
