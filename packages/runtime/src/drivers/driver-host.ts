import {
  type CheckClassRequest,
  type CheckClassResponse,
  type Clock,
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type FindDriftResponse,
  isMachineError,
  MachineError,
  type MachineRequest,
  rejectionCodes,
  userDataKey,
  Secret,
  type SecretData,
} from "@millwright/core";
import type {
  CapacityDriver,
  ClassCall,
  ClassProblem,
  CreateVmCall,
  DriverOutcome,
  MachineDriver,
  OperationResult,
  PendingOperation,
  VmCall,
  VmListDriver,
} from "@millwright/controllers";
import { isPending } from "@millwright/controllers/driver-calls";
import type { Log } from "@millwright/kube";
import { createDriverCaller, type EndedCall } from "./call-driver.ts";
import { createCallLimit } from "./call-limit.ts";
import {
  type DeletionReply,
  type OnLeftOut,
  readChecksReply,
  readDeletionReply,
  readDriftReply,
  readInitializationReply,
  readListReply,
  readNodeTemplateReply,
  readPendingReply,
  readFoundVm,
  readVmReply,
  readVolumeReply,
} from "./check-reply.ts";
import { confirmDeletion } from "./confirm-deletion.ts";
import { cleanText, toMachineError, withCleanState } from "./driver-failure.ts";
import type { DriverMethod, DriverMetrics } from "../metrics/driver-metrics.ts";
import type { CloudRecorder } from "../recording/cloud-recorder.ts";
import { type ClassReader, type ClassReading, createClassReader, identityOf, type ReadClass } from "./read-class.ts";
import { createAbandonedCalls } from "./abandoned-calls.ts";
import type { RunningCalls } from "./running-calls.ts";
import { asksForToken, userDataFor } from "./user-data.ts";

/** How drivers are hosted. */
export interface DriverHostOptions {
  /** May grow. */
  readonly drivers: readonly Driver[];
  /** Longest time for one call of a driver, milliseconds. Default 5 minutes. */
  readonly callTimeoutMs?: number;
  /** Called right before each call of a driver; what it throws keeps the call from being made. Absent: nothing keeps it. */
  readonly fence?: () => void;
  /** Absent: calls of drivers are not counted. */
  readonly metrics?: DriverMetrics;
  /** Absent: nothing that drivers send to their clouds is recorded. */
  readonly recorder?: Pick<CloudRecorder, "protect" | "record">;
  /** Absent: calls of drivers are not followed. */
  readonly running?: Pick<RunningCalls, "begin">;
  /** Called when a call about a machine has ended. Absent: nothing is. */
  readonly onEnd?: (call: EndedCall) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Longest time for one call of a driver, milliseconds. */
export const DEFAULT_CALL_TIMEOUT_MS = 5 * 60_000;

/** Longest time for reading a class before a machine is created; a schema that takes longer is left to the call. A reconcile waits for it. */
const READ_TIMEOUT_MS = 5_000;

/** Drivers as controllers and commands see them. */
export interface DriverHost extends MachineDriver, CapacityDriver, VmListDriver {
  /** Compares the VM of a machine with its class; `Unimplemented` where the driver cannot. */
  findDrift(call: VmCall, signal: AbortSignal): Promise<DriverOutcome<FindDriftResponse>>;
  /** Checks a class against its cloud; `Unimplemented` where the driver cannot. */
  checkClass(call: ClassCall, signal: AbortSignal): Promise<DriverOutcome<CheckClassResponse>>;
}

/** A driver with a request about a machine that it can understand. */
interface Prepared {
  readonly driver: Driver;
  readonly request: MachineRequest<unknown>;
  /** What must not be printed: the secret of the class, and what is made for the machine. */
  readonly confidential: Record<string, Secret>;
}

/** Why there is no bootstrap token: a failure of the API server of the target cluster, and not of the driver. Its cause is what was thrown. */
class TokenFailure extends Error {
  override readonly name = "TokenFailure";
}

/** The failure, with the word that the idempotency token of the attempt is of no use any more. */
const withSpentToken = ({ code, message, retryAfterMs, lastKnownState }: MachineError): MachineError =>
  new MachineError(code, message, {
    tokenIsSpent: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(lastKnownState === undefined ? {} : { lastKnownState }),
  });

/** The check of a class before a creation. It reports no failure of its own: the call of the driver does. */
function createRejectionCheck(classes: ClassReader, clock: Clock): MachineDriver["rejectionOf"] {
  const limit = createCallLimit(clock, READ_TIMEOUT_MS);
  return async (machineClass, secret) => {
    const read = (): Promise<ClassProblem | undefined> => classes.rejectionOf(machineClass, secret);
    try {
      const rejection = await limit("reading the MachineClass", new AbortController().signal, read);
      return rejection === undefined
        ? undefined
        : { ...rejection, problem: cleanText(rejection.problem, secret ?? {}) };
    } catch {
      return undefined;
    }
  };
}

/** One call about a machine. */
type VmMethodCall = <Request>(
  prepared: Prepared,
  method: DriverMethod,
  argument: Request,
  invoke: (argument: Request, context: DriverContext) => Promise<unknown>,
  signal: AbortSignal,
) => Promise<unknown>;

/** Logs that addresses in a reply were left out. */
const leftOutOf =
  ({ driver, request }: Prepared, log: Log): OnLeftOut =>
  (count) =>
    log("warn", "Addresses of a VM that cannot be shown as they are were left out", {
      driver: driver.name,
      machine: request.machine.name,
      count,
    });

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

/** Logs that a driver threw what is no `MachineError`. */
const logFailure = (
  log: Log,
  classes: ClassReader,
  { message: error }: Error,
  { machineClass, machine }: Pick<ClassCall, "machineClass"> & { readonly machine: VmCall["machine"] | undefined },
): void =>
  log("error", "A driver failed without a code", {
    driver: classes.driverOf(machineClass)?.name,
    machineClass: machineClass.metadata.name,
    ...(machine === undefined ? {} : { machine: machine.metadata.name }),
    error,
  });

/** Hosts drivers: finds the one for a class, reads the class with its schema, sets deadlines, and turns whatever it does into values. */
export function createDriverHost(options: DriverHostOptions): DriverHost {
  const { drivers, clock, log } = options;

  const abandonedCalls = createAbandonedCalls(clock, log);
  const limit = createCallLimit(clock, options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS);
  const classes = createClassReader(drivers);
  const makeCall = createDriverCaller({ ...options, limit });

  const call: VmMethodCall = ({ driver, request, confidential }, method, argument, invoke, signal) =>
    makeCall({
      driver,
      method,
      subject: { machine: request.machine.name, uid: request.machine.uid },
      confidential,
      invoke: (context) => invoke(argument, context),
      signal,
      // The next call need not wait for a call that changes nothing.
      ...(method === "getVolumeIds" || method === "findDrift"
        ? {}
        : { onAbandoned: (what, running) => abandonedCalls.add(request.machine.uid, what, running) }),
    });

  /** One call about a class. */
  const callAboutClass = (
    { driver, machineClass, secret }: ReadClass,
    confidential: SecretData,
    method: "checkClass" | "getNodeTemplate" | "listMachines",
    invoke: (request: CheckClassRequest<unknown>, context: DriverContext) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<unknown> =>
    makeCall({
      driver,
      method,
      subject: { machineClass: machineClass.name },
      confidential,
      invoke: (context) => invoke({ machineClass, secret }, context),
      signal,
    });

  /** Reads the class, acts with it, and makes a value of whatever is thrown. */
  const toValue = async <Result>(
    reading: ClassReading,
    { machineClass, secret, machine }: ClassCall & Partial<VmCall>,
    signal: AbortSignal,
    run: (read: ReadClass, confidential: Record<string, Secret>) => Promise<Result>,
  ): Promise<DriverOutcome<Result>> => {
    const confidential: Record<string, Secret> = { ...secret };
    try {
      const read = await limit("reading the MachineClass", signal, () => classes.read(machineClass, secret, reading));
      return { ok: true, value: withCleanState(await run(read, confidential), confidential) };
    } catch (failure) {
      const isOutsideDriver = failure instanceof TokenFailure;
      const thrown = isOutsideDriver ? failure.cause : failure;
      if (signal.aborted && !isMachineError(thrown))
        return { ok: false, error: new MachineError("Aborted", "the call was aborted") };
      const error = toMachineError(thrown, confidential);
      if (!isMachineError(thrown)) logFailure(log, classes, error, { machineClass, machine });
      return { ok: false, error, ...(isOutsideDriver ? { isOutsideDriver } : {}) };
    }
  };

  const toOutcome = <Result = OperationResult>(
    reading: ClassReading,
    vmCall: VmCall,
    signal: AbortSignal,
    run: (prepared: Prepared) => Promise<Result>,
  ): Promise<DriverOutcome<Result>> =>
    toValue(reading, vmCall, signal, async ({ driver, machineClass, secret }, confidential) => {
      const machine = identityOf(vmCall.machine);
      await abandonedCalls.settled(machine.uid, signal);
      return run({ driver, confidential, request: { machine, machineClass, secret } });
    });

  /** The same for a call that finds or deletes a VM: it does not need a valid class. */
  const toVmOutcome = <Result = OperationResult>(
    vmCall: VmCall,
    signal: AbortSignal,
    run: (prepared: Prepared) => Promise<Result>,
  ): Promise<DriverOutcome<Result>> => toOutcome("existingVm", vmCall, signal, run);

  const status = (prepared: Prepared, signal: AbortSignal): Promise<unknown> =>
    call(
      prepared,
      "getMachineStatus",
      prepared.request,
      (argument, context) => prepared.driver.getMachineStatus(argument, context),
      signal,
    );

  /** The VM of an earlier attempt, or nothing; every other failure is the caller's. */
  const existing = async (
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readVmReply> | undefined> => {
    try {
      return readVmReply("getMachineStatus", await status(prepared, signal), leftOutOf(prepared, log));
    } catch (error) {
      if (isMachineError(error) && (error.code === "NotFound" || error.code === "Unimplemented")) return undefined;
      throw error;
    }
  };

  const create = async (
    prepared: Prepared,
    { idempotencyToken, bootstrapToken }: CreateVmCall,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readVmReply> | PendingOperation> => {
    const { driver, request } = prepared;
    const template = request.secret[userDataKey] ?? Secret.of("");
    const token =
      bootstrapToken !== undefined && asksForToken(template)
        ? await limit("making the bootstrap token", signal, bootstrapToken).catch((cause: unknown) => {
            throw new TokenFailure("there is no bootstrap token", { cause });
          })
        : undefined;
    const userData = userDataFor(request.machine.name, template, token);
    const argument: CreateMachineRequest<unknown> = { ...request, idempotencyToken, userData };
    // Names that no key of a Secret can have: theirs stay protected, too.
    Object.assign(prepared.confidential, {
      "user data of the machine": userData,
      ...(token === undefined ? {} : { "bootstrap token": token }),
    });
    try {
      const reply = await call(
        prepared,
        "createMachine",
        argument,
        (message, context) => driver.createMachine(message, context),
        signal,
      );
      return (
        readPendingReply("createMachine", reply, prepared.confidential) ??
        readVmReply("createMachine", reply, leftOutOf(prepared, log))
      );
    } catch (thrown) {
      // A driver that threw anything else may have made the VM: its token stays.
      throw isMachineError(thrown) && rejectionCodes.has(thrown.code) ? withSpentToken(thrown) : thrown;
    }
  };

  const initialize = async (prepared: Prepared, signal: AbortSignal): Promise<OperationResult> => {
    const { driver, request } = prepared;
    const method = driver.initializeMachine;
    if (method === undefined) return {};
    try {
      return readInitializationReply(
        await call(prepared, "initializeMachine", request, (argument, context) => method(argument, context), signal),
        leftOutOf(prepared, log),
      );
    } catch (error) {
      if (isMachineError(error) && error.code === "Unimplemented") return {};
      throw error;
    }
  };

  /** Whether the driver has a step that this VM has not had. */
  const needsInitialization = (
    { driver }: Prepared,
    isInitialized: boolean,
  ): Pick<OperationResult, "needsInitialization"> =>
    driver.initializeMachine === undefined || isInitialized ? {} : { needsInitialization: true };

  return {
    missingDriver: (machineClass) => classes.missingDriver(machineClass),
    rejectionOf: createRejectionCheck(classes, clock),
    ensureVm: (vmCall, signal) =>
      toOutcome("creation", vmCall, signal, async (prepared) => {
        const found = await existing(prepared, signal);
        const made = found ?? (await create(prepared, vmCall, signal));
        if (isPending(made)) return made;
        const { isInitialized, ...vm } = made;
        const isAdopted = found !== undefined;
        return { ...vm, isAdopted, ...needsInitialization(prepared, isAdopted && isInitialized) };
      }),
    initializeVm: (vmCall, signal) => toOutcome("other", vmCall, signal, (prepared) => initialize(prepared, signal)),
    findVm: (vmCall, signal) =>
      toVmOutcome(vmCall, signal, async (prepared) => {
        const { isInitialized = false, ...vm } = readFoundVm(await status(prepared, signal), leftOutOf(prepared, log));
        return { ...vm, ...needsInitialization(prepared, isInitialized) };
      }),
    deleteVm: (vmCall, signal) =>
      toVmOutcome(vmCall, signal, (prepared) =>
        confirmDeletion(
          vmCall.machine,
          {
            remove: () => remove(call, prepared, signal),
            find: async () => readVmReply("getMachineStatus", await status(prepared, signal)),
          },
          clock,
        ),
      ),
    volumeIds: (vmCall, specs, signal) =>
      toVmOutcome(vmCall, signal, async (prepared) => {
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
      }),
    findDrift: (vmCall, signal) =>
      toOutcome("other", vmCall, signal, async (prepared) => {
        const method = prepared.driver.findDrift;
        if (method === undefined)
          throw new MachineError(
            "Unimplemented",
            `driver "${prepared.driver.name}" cannot compare a VM with its class`,
          );
        return readDriftReply(
          await call(prepared, "findDrift", prepared.request, (argument, context) => method(argument, context), signal),
          prepared.confidential,
        );
      }),
    reportsCapacity: (machineClass) => classes.driverOf(machineClass)?.capabilities.nodeTemplate === true,
    capacityOf: (classCall, signal) =>
      toValue("other", classCall, signal, async (read, confidential) => {
        const method = read.driver.getNodeTemplate;
        if (method === undefined)
          throw new MachineError("Unimplemented", `driver "${read.driver.name}" does not report capacity`);
        const reply = await callAboutClass(read, confidential, "getNodeTemplate", method, signal);
        return readNodeTemplateReply(reply, classCall.machineClass);
      }),
    listsVms: (machineClass) => classes.driverOf(machineClass)?.capabilities.listMachines === true,
    listVms: (classCall, signal) =>
      // A spec that is read less strictly may lack what separates the VMs of this cluster from others.
      toValue("other", classCall, signal, async (read, confidential) => {
        const method = read.driver.listMachines;
        if (method === undefined)
          throw new MachineError("Unimplemented", `driver "${read.driver.name}" does not list VMs`);
        return readListReply(await callAboutClass(read, confidential, "listMachines", method, signal));
      }),
    checkClass: (classCall, signal) =>
      toValue("creation", classCall, signal, async (read, confidential) => {
        const method = read.driver.checkClass;
        if (method === undefined)
          throw new MachineError("Unimplemented", `driver "${read.driver.name}" has no checks of classes`);
        return readChecksReply(await callAboutClass(read, confidential, "checkClass", method, signal), confidential);
      }),
  };
}
