import {
  checkDriverSecret,
  type Clock,
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  formatProblems,
  isDriverFor,
  isMachineError,
  type MachineClass,
  MachineError,
  type MachineRequest,
  readProviderSpec,
  redactSecrets,
  refusalCodes,
  userDataKey,
  Secret,
} from "@millwright/core";
import type { CreateVmCall, DriverOutcome, MachineDriver, OperationResult, VmCall } from "@millwright/controllers";
import type { Log } from "@millwright/kube";
import { createCallLimit } from "./call-limit.ts";
import { readDeletionReply, readInitializationReply, readVmReply, readVolumeReply } from "./check-reply.ts";
import { cleanFields, toMachineError } from "./driver-failure.ts";
import { createStragglers } from "./stragglers.ts";
import { asksForToken, userDataFor } from "./user-data.ts";

/** How drivers are hosted. */
export interface DriverHostOptions {
  readonly drivers: readonly Driver[];
  /** Whether machines join a cluster as nodes, so that a driver has to say under which name. */
  readonly hasTarget: boolean;
  /** Longest time for one call of a driver, milliseconds. Default 5 minutes. */
  readonly callTimeoutMs?: number;
  /** Called right before each call of a driver; what it throws keeps the call from being made. Absent: nothing keeps it. */
  readonly fence?: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

const DEFAULT_CALL_TIMEOUT_MS = 5 * 60_000;

type Method = "createMachine" | "deleteMachine" | "getMachineStatus" | "getVolumeIds" | "initializeMachine";

/** A driver with a request that it can understand. */
interface Prepared {
  readonly driver: Driver;
  readonly request: MachineRequest<unknown>;
  /** What must not be printed: the secret of the class, and what is made for the machine. */
  readonly confidential: Record<string, Secret>;
}

/** The failure, with the word that the idempotency token of the attempt is of no use any more. */
const withSpentToken = ({ code, message, retryAfterMs, lastKnownState }: MachineError): MachineError =>
  new MachineError(code, message, {
    tokenIsSpent: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(lastKnownState === undefined ? {} : { lastKnownState }),
  });

/** Hosts drivers: finds the one for a class, reads the class with its schema, sets deadlines, and turns whatever it does into values. */
export function createDriverHost(options: DriverHostOptions): MachineDriver {
  const { drivers, hasTarget, clock, log } = options;

  const stragglers = createStragglers(clock, log);
  const limit = createCallLimit(clock, options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS);

  const driverOf = (machineClass: MachineClass): Driver | undefined =>
    drivers.find((driver) => isDriverFor(driver, machineClass.provider ?? ""));

  const refusalOf = (machineClass: MachineClass): string | undefined => {
    if (driverOf(machineClass) !== undefined) return undefined;
    const known = drivers.map(({ name }) => `"${name}"`).join(", ");
    return `provider: no driver "${machineClass.provider ?? ""}" is loaded; expected ${known}`;
  };

  /** Picks the driver and reads the class for it. */
  const prepare = async (
    { machine, machineClass, secret }: VmCall,
    confidential: Record<string, Secret>,
  ): Promise<Prepared> => {
    const subject = `MachineClass "${machineClass.metadata.name}"`;
    const driver = driverOf(machineClass);
    if (driver === undefined) throw new MachineError("InvalidArgument", `${subject}: ${refusalOf(machineClass) ?? ""}`);
    const spec = await readProviderSpec(driver, machineClass);
    if (!spec.ok) throw new MachineError("InvalidArgument", `${subject}: ${formatProblems(spec.problems)}`);
    const checked = await checkDriverSecret(driver, secret);
    if (!checked.ok)
      throw new MachineError("InvalidArgument", `Secret of ${subject}: ${formatProblems(checked.problems)}`);
    const { name, namespace = "", uid = "", labels, annotations } = machine.metadata;
    const providerId = machine.spec.providerID;
    const nodeAnnotations = machine.spec.nodeTemplate?.metadata?.annotations;
    return {
      driver,
      confidential,
      request: {
        machine: {
          name,
          namespace,
          uid,
          ...(providerId === undefined || providerId === "" ? {} : { providerId }),
          ...(labels === undefined ? {} : { labels }),
          ...(annotations === undefined ? {} : { annotations }),
          ...(nodeAnnotations === undefined ? {} : { nodeAnnotations }),
        },
        machineClass: {
          name: machineClass.metadata.name,
          spec: spec.spec,
          ...(machineClass.nodeTemplate === undefined ? {} : { nodeTemplate: machineClass.nodeTemplate }),
        },
        secret,
      },
    };
  };

  /** Another process may act on the same VM by now. The state is in the objects: whoever leads goes on. */
  const refuseWhenFenced = (): void => {
    try {
      options.fence?.();
    } catch (error) {
      throw new MachineError("Aborted", error instanceof Error ? error.message : "this process may not act any more");
    }
  };

  /** One call of a method of a driver. */
  const call = <Request>(
    { driver, request, confidential }: Prepared,
    method: Method,
    argument: Request,
    invoke: (argument: Request, context: DriverContext) => Promise<unknown>,
    outer: AbortSignal,
  ): Promise<unknown> => {
    const what = `${method} of driver "${driver.name}"`;
    const { machine } = request;
    const run = (signal: AbortSignal): Promise<unknown> => {
      const context: DriverContext = {
        signal,
        clock,
        log: (level, message, fields) =>
          log(level, redactSecrets(message, confidential), {
            ...cleanFields(fields, confidential),
            driver: driver.name,
            method,
            machine: machine.name,
          }),
      };
      refuseWhenFenced();
      return invoke(argument, context);
    };
    // What changes nothing need not be waited for by whoever comes next.
    if (method === "getVolumeIds") return limit(what, outer, run);
    return limit(what, outer, run, (running) => stragglers.add(machine.uid, what, running));
  };

  const toOutcome = async <Result = OperationResult>(
    vmCall: VmCall,
    signal: AbortSignal,
    run: (prepared: Prepared) => Promise<Result>,
  ): Promise<DriverOutcome<Result>> => {
    const confidential: Record<string, Secret> = { ...vmCall.secret };
    try {
      await stragglers.settled(vmCall.machine.metadata.uid ?? "", signal);
      const prepared = await limit("reading the MachineClass", signal, () => prepare(vmCall, confidential));
      return { ok: true, value: await run(prepared) };
    } catch (thrown) {
      if (signal.aborted && !isMachineError(thrown))
        return { ok: false, error: new MachineError("Aborted", "the call was aborted") };
      const error = toMachineError(thrown, confidential);
      if (!isMachineError(thrown)) log("error", "A driver failed without a code", { error: error.message });
      return { ok: false, error };
    }
  };

  const status = async (prepared: Prepared, signal: AbortSignal): Promise<ReturnType<typeof readVmReply>> => {
    const { driver, request } = prepared;
    const reply = await call(
      prepared,
      "getMachineStatus",
      request,
      (argument, context) => driver.getMachineStatus(argument, context),
      signal,
    );
    return readVmReply("getMachineStatus", reply, hasTarget);
  };

  /** The VM of an earlier attempt, or nothing; every other failure is the caller's. */
  const existing = async (
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readVmReply> | undefined> => {
    try {
      return await status(prepared, signal);
    } catch (error) {
      if (isMachineError(error) && (error.code === "NotFound" || error.code === "Unimplemented")) return undefined;
      throw error;
    }
  };

  const create = async (
    prepared: Prepared,
    { idempotencyToken, bootstrapToken }: CreateVmCall,
    signal: AbortSignal,
  ): Promise<ReturnType<typeof readVmReply>> => {
    const { driver, request } = prepared;
    const template = request.secret[userDataKey] ?? Secret.of("");
    const token =
      bootstrapToken !== undefined && asksForToken(template)
        ? await limit("making the bootstrap token", signal, bootstrapToken)
        : undefined;
    const userData = userDataFor(request.machine.name, template, token);
    const argument: CreateMachineRequest<unknown> = { ...request, idempotencyToken, userData };
    Object.assign(prepared.confidential, { madeUserData: userData, ...(token === undefined ? {} : { token }) });
    try {
      const reply = await call(
        prepared,
        "createMachine",
        argument,
        (message, context) => driver.createMachine(message, context),
        signal,
      );
      return readVmReply("createMachine", reply, hasTarget);
    } catch (thrown) {
      // A driver that threw anything else may have made the VM: its token stays.
      throw isMachineError(thrown) && refusalCodes.has(thrown.code) ? withSpentToken(thrown) : thrown;
    }
  };

  const initialize = async (prepared: Prepared, signal: AbortSignal): Promise<OperationResult> => {
    const { driver, request } = prepared;
    const method = driver.initializeMachine;
    if (method === undefined) return {};
    try {
      return readInitializationReply(
        await call(prepared, "initializeMachine", request, (argument, context) => method(argument, context), signal),
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
    refusalOf,
    ensureVm: (vmCall, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const found = await existing(prepared, signal);
        const { isInitialized, ...vm } = found ?? (await create(prepared, vmCall, signal));
        const isAdopted = found !== undefined;
        return { ...vm, isAdopted, ...needsInitialization(prepared, isAdopted && isInitialized) };
      }),
    initializeVm: (vmCall, signal) => toOutcome(vmCall, signal, (prepared) => initialize(prepared, signal)),
    findVm: (vmCall, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const { isInitialized, ...vm } = await status(prepared, signal);
        return { ...vm, ...needsInitialization(prepared, isInitialized) };
      }),
    deleteVm: (vmCall, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const { driver, request } = prepared;
        return readDeletionReply(
          await call(
            prepared,
            "deleteMachine",
            request,
            (argument, context) => driver.deleteMachine(argument, context),
            signal,
          ),
        );
      }),
    volumeIds: (vmCall, specs, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const { driver } = prepared;
        if (!driver.capabilities.volumeIds)
          throw new MachineError("Unimplemented", `driver "${driver.name}" knows nothing of volumes`);
        const reply = await call(
          prepared,
          "getVolumeIds",
          { volumes: specs },
          (argument, context) => driver.getVolumeIds(argument, context),
          signal,
        );
        return readVolumeReply(reply, specs.length);
      }),
  };
}
