import type { CreateVmCall, MachineDriver, OperationResult, PendingOperation, VmCall } from "@millwright/controllers";
import { isPending } from "@millwright/controllers/driver-calls";
import { type Clock, Secret } from "@millwright/base";
import {
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type FindDriftResponse,
  isMachineError,
  MachineError,
  type MachineRequest,
  userDataKey,
} from "@millwright/core";
import { rejectionCodes } from "@millwright/core/driver-host";
import type { Log } from "@millwright/kube";
import type { DriverMethod } from "../metrics/driver-metrics.ts";
import type { CallLimit } from "./call-limit.ts";
import {
  type DeletionReply,
  type OnLeftOut,
  readDeletionReply,
  readDriftReply,
  readFoundVm,
  readInitializationReply,
  readPendingReply,
  readVmReply,
  readVolumeReply,
} from "./check-reply.ts";
import { confirmDeletion } from "./confirm-deletion.ts";
import { asksForToken, userDataFor } from "./user-data.ts";

/** A driver with a request about a machine that it can understand. */
export interface Prepared {
  readonly driver: Driver;
  readonly request: MachineRequest<unknown>;
  /** What must not be printed: the secret of the class, and what is made for the machine. */
  readonly confidential: Record<string, Secret>;
}

/** One call about a machine. */
export type VmMethodCall = <Request>(
  prepared: Prepared,
  method: DriverMethod,
  argument: Request,
  invoke: (argument: Request, context: DriverContext) => Promise<unknown>,
  signal: AbortSignal,
) => Promise<unknown>;

/** What calls about VMs are made with. */
export interface VmCaller {
  readonly call: VmMethodCall;
  /** Limits what is done beside the driver, too. */
  readonly limit: CallLimit;
  readonly clock: Clock;
  readonly log: Log;
}

type VmReply = ReturnType<typeof readVmReply>;

/** Why there is no bootstrap token: a failure of the API server of the target cluster, and not of the driver. Its cause is what was thrown. */
export class TokenFailure extends Error {
  override readonly name = "TokenFailure";
}

/** The failure, with the word that the idempotency token of the attempt is of no use any more. */
const withSpentToken = ({ code, message, retryAfterMs, lastKnownState }: MachineError): MachineError =>
  new MachineError(code, message, {
    tokenIsSpent: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(lastKnownState === undefined ? {} : { lastKnownState }),
  });

/** Logs that addresses in a reply were left out. */
const leftOutOf =
  ({ driver, request }: Prepared, log: Log): OnLeftOut =>
  (count) =>
    log("warn", "Addresses of a VM that cannot be shown as they are were left out", {
      driver: driver.name,
      machine: request.machine.name,
      count,
    });

/** Asks the driver for the VM of a machine. */
const readStatus = ({ call }: VmCaller, prepared: Prepared, signal: AbortSignal): Promise<unknown> =>
  call(
    prepared,
    "getMachineStatus",
    prepared.request,
    (argument, context) => prepared.driver.getMachineStatus(argument, context),
    signal,
  );

/** The VM of an earlier attempt, or nothing; every other failure is the caller's. */
async function findExisting(caller: VmCaller, prepared: Prepared, signal: AbortSignal): Promise<VmReply | undefined> {
  try {
    const reply = await readStatus(caller, prepared, signal);
    return readVmReply("getMachineStatus", reply, leftOutOf(prepared, caller.log));
  } catch (error) {
    if (isMachineError(error) && (error.code === "NotFound" || error.code === "Unimplemented")) return undefined;
    throw error;
  }
}

/** The user data of a machine with its bootstrap token, which are confidential from now on. */
async function makeUserData(
  { limit }: VmCaller,
  { request, confidential }: Prepared,
  bootstrapToken: CreateVmCall["bootstrapToken"],
  signal: AbortSignal,
): Promise<Secret> {
  const template = request.secret[userDataKey] ?? Secret.of("");
  const token =
    bootstrapToken !== undefined && asksForToken(template)
      ? await limit("making the bootstrap token", signal, bootstrapToken).catch((cause: unknown) => {
          throw new TokenFailure("there is no bootstrap token", { cause });
        })
      : undefined;
  const userData = userDataFor(request.machine.name, template, token);
  // Names that no key of a Secret can have: theirs stay protected, too.
  Object.assign(confidential, {
    "user data of the machine": userData,
    ...(token === undefined ? {} : { "bootstrap token": token }),
  });
  return userData;
}

async function createVm(
  caller: VmCaller,
  prepared: Prepared,
  { idempotencyToken, bootstrapToken }: CreateVmCall,
  signal: AbortSignal,
): Promise<VmReply | PendingOperation> {
  const { driver, request, confidential } = prepared;
  const userData = await makeUserData(caller, prepared, bootstrapToken, signal);
  const argument: CreateMachineRequest<unknown> = { ...request, idempotencyToken, userData };
  const invoke: Driver["createMachine"] = (message, context) => driver.createMachine(message, context);
  try {
    const reply = await caller.call(prepared, "createMachine", argument, invoke, signal);
    return (
      readPendingReply("createMachine", reply, confidential) ??
      readVmReply("createMachine", reply, leftOutOf(prepared, caller.log))
    );
  } catch (thrown) {
    // A driver that threw anything else may have made the VM: its token stays.
    throw isMachineError(thrown) && rejectionCodes.has(thrown.code) ? withSpentToken(thrown) : thrown;
  }
}

/** Whether the driver has a step that this VM has not had. */
const needsInitialization = (
  { driver }: Prepared,
  isInitialized: boolean,
): Pick<OperationResult, "needsInitialization"> =>
  driver.initializeMachine === undefined || isInitialized ? {} : { needsInitialization: true };

/** Finds the VM of an earlier attempt, or creates one. */
export async function ensureVm(
  caller: VmCaller,
  prepared: Prepared,
  vmCall: CreateVmCall,
  signal: AbortSignal,
): Promise<OperationResult | PendingOperation> {
  const found = await findExisting(caller, prepared, signal);
  const made = found ?? (await createVm(caller, prepared, vmCall, signal));
  if (isPending(made)) return made;
  const { isInitialized, ...vm } = made;
  const isAdopted = found !== undefined;
  return { ...vm, isAdopted, ...needsInitialization(prepared, isAdopted && isInitialized) };
}

/** Initializes a VM; nothing is done for a driver without such a step. */
export async function initializeVm(
  caller: VmCaller,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<OperationResult> {
  const { driver, request } = prepared;
  const method = driver.initializeMachine;
  if (method === undefined) return {};
  try {
    return readInitializationReply(
      await caller.call(
        prepared,
        "initializeMachine",
        request,
        (argument, context) => method(argument, context),
        signal,
      ),
      leftOutOf(prepared, caller.log),
    );
  } catch (error) {
    if (isMachineError(error) && error.code === "Unimplemented") return {};
    throw error;
  }
}

/** Finds the VM of a machine. */
export async function findVm(caller: VmCaller, prepared: Prepared, signal: AbortSignal): Promise<OperationResult> {
  const reply = await readStatus(caller, prepared, signal);
  const { isInitialized = false, ...vm } = readFoundVm(reply, leftOutOf(prepared, caller.log));
  return { ...vm, ...needsInitialization(prepared, isInitialized) };
}

/** Deletes a VM, as the driver replies. */
async function remove(
  call: VmMethodCall,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<DeletionReply | PendingOperation> {
  const { driver, request, confidential } = prepared;
  const invoke = (argument: MachineRequest<unknown>, context: DriverContext) => driver.deleteMachine(argument, context);
  const reply = await call(prepared, "deleteMachine", request, invoke, signal);
  return readPendingReply("deleteMachine", reply, confidential) ?? readDeletionReply(reply);
}

/** Deletes the VM of a machine, and confirms that it is deleted. */
export const deleteVm = (
  caller: VmCaller,
  prepared: Prepared,
  { machine }: VmCall,
  signal: AbortSignal,
): Promise<OperationResult | PendingOperation> =>
  confirmDeletion(
    machine,
    {
      remove: () => remove(caller.call, prepared, signal),
      find: async () => readVmReply("getMachineStatus", await readStatus(caller, prepared, signal)),
    },
    caller.clock,
  );

/** The ids of volumes, as the cloud names them. */
export async function readVolumeIds(
  { call }: VmCaller,
  prepared: Prepared,
  specs: Parameters<MachineDriver["volumeIds"]>[1],
  signal: AbortSignal,
): Promise<ReturnType<typeof readVolumeReply>> {
  const { driver } = prepared;
  if (!driver.capabilities.volumeIds)
    throw new MachineError("Unimplemented", `driver "${driver.name}" does not support volumes`);
  const reply = await call(
    prepared,
    "getVolumeIds",
    { volumes: specs },
    (argument, context) => driver.getVolumeIds(argument, context),
    signal,
  );
  return readVolumeReply(reply, specs.length);
}

/** How the VM of a machine differs from its class. */
export async function findDrift(
  { call }: VmCaller,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<FindDriftResponse> {
  const { driver, request, confidential } = prepared;
  const method = driver.findDrift;
  if (method === undefined)
    throw new MachineError("Unimplemented", `driver "${driver.name}" cannot compare a VM with its class`);
  return readDriftReply(
    await call(prepared, "findDrift", request, (argument, context) => method(argument, context), signal),
    confidential,
  );
}
