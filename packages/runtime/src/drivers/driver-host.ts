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
  userDataKey,
  Secret,
} from "@millwright/core";
import type { DriverOutcome, MachineDriver, OperationResult, VmCall } from "@millwright/controllers";
import type { Log } from "@millwright/kube";
import { readDeletionReply, readVmReply } from "./check-reply.ts";
import { cleanFields, toMachineError } from "./driver-failure.ts";
import { userDataFor } from "./user-data.ts";

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

type Method = "createMachine" | "deleteMachine" | "getMachineStatus" | "initializeMachine";

/** A driver with a request that it can understand. */
interface Prepared {
  readonly driver: Driver;
  readonly request: MachineRequest<unknown>;
}

/** Hosts drivers: finds the one for a class, reads the class with its schema, sets deadlines, and turns whatever it does into values. */
export function createDriverHost(options: DriverHostOptions): MachineDriver {
  const { drivers, hasTarget, clock, log } = options;
  const callTimeoutMs = options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS;

  const driverOf = (machineClass: MachineClass): Driver | undefined =>
    drivers.find((driver) => isDriverFor(driver, machineClass.provider ?? ""));

  const refusalOf = (machineClass: MachineClass): string | undefined => {
    if (driverOf(machineClass) !== undefined) return undefined;
    const known = drivers.map(({ name }) => `"${name}"`).join(", ");
    return `provider: no driver "${machineClass.provider ?? ""}" is loaded; expected ${known}`;
  };

  /** Picks the driver and reads the class for it. */
  const prepare = async ({ machine, machineClass, secret }: VmCall): Promise<Prepared> => {
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
    return {
      driver,
      request: {
        machine: {
          name,
          namespace,
          uid,
          ...(providerId === undefined || providerId === "" ? {} : { providerId }),
          ...(labels === undefined ? {} : { labels }),
          ...(annotations === undefined ? {} : { annotations }),
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

  /**
   * Runs something of a driver with a deadline. What ignores its signal is left behind when that aborts: the machine can be worked on again.
   *
   * @throws MachineError DeadlineExceeded, or the reason of the signal
   */
  const limit = async <Result>(
    what: string,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    const deadline = new AbortController();
    const timer = clock.setTimer(callTimeoutMs, () =>
      deadline.abort(new MachineError("DeadlineExceeded", `${what} took longer than ${callTimeoutMs / 1000} s`)),
    );
    const combined = AbortSignal.any([signal, deadline.signal]);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(combined.reason);
    combined.addEventListener("abort", onAbort, { once: true });
    try {
      combined.throwIfAborted();
      return await Promise.race([run(combined), aborted.promise]);
    } finally {
      timer.cancel();
      combined.removeEventListener("abort", onAbort);
    }
  };

  /** One call of a method of a driver. */
  /** Another process may act on the same VM by now. The state is in the objects: whoever leads goes on. */
  const refuseWhenFenced = (): void => {
    try {
      options.fence?.();
    } catch (error) {
      throw new MachineError("Aborted", error instanceof Error ? error.message : "this process may not act any more");
    }
  };

  const call = <Request>(
    { driver, request }: Prepared,
    method: Method,
    argument: Request,
    invoke: (argument: Request, context: DriverContext) => Promise<unknown>,
    outer: AbortSignal,
  ): Promise<unknown> =>
    limit(`${method} of driver "${driver.name}"`, outer, (signal) => {
      const { machine, secret } = request;
      const context: DriverContext = {
        signal,
        clock,
        log: (level, message, fields) =>
          log(level, redactSecrets(message, secret), {
            ...cleanFields(fields, secret),
            driver: driver.name,
            method,
            machine: machine.name,
          }),
      };
      refuseWhenFenced();
      return invoke(argument, context);
    });

  const toOutcome = async (
    vmCall: VmCall,
    signal: AbortSignal,
    run: (prepared: Prepared) => Promise<OperationResult>,
  ): Promise<DriverOutcome<OperationResult>> => {
    try {
      const prepared = await limit("reading the MachineClass", signal, () => prepare(vmCall));
      return { ok: true, value: await run(prepared) };
    } catch (thrown) {
      if (signal.aborted && !isMachineError(thrown))
        return { ok: false, error: new MachineError("Aborted", "the call was aborted") };
      const error = toMachineError(thrown, vmCall.secret);
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

  const create = async (prepared: Prepared, signal: AbortSignal): Promise<ReturnType<typeof readVmReply>> => {
    const { driver, request } = prepared;
    const userData = userDataFor(request.machine.name, request.secret[userDataKey] ?? Secret.of(""));
    // The UID is unique to the object and known before the call: every attempt, also after a crash, asks for the same VM.
    const argument: CreateMachineRequest<unknown> = { ...request, idempotencyToken: request.machine.uid, userData };
    const reply = await call(
      prepared,
      "createMachine",
      argument,
      (message, context) => driver.createMachine(message, context),
      signal,
    );
    return readVmReply("createMachine", reply, hasTarget);
  };

  const initialize = async (prepared: Prepared, vm: OperationResult, signal: AbortSignal): Promise<void> => {
    const { driver, request } = prepared;
    const method = driver.initializeMachine;
    if (method === undefined) return;
    const machine = { ...request.machine, ...(vm.providerId === undefined ? {} : { providerId: vm.providerId }) };
    try {
      await call(
        prepared,
        "initializeMachine",
        { ...request, machine },
        (argument, context) => method(argument, context),
        signal,
      );
    } catch (error) {
      if (isMachineError(error) && error.code === "Unimplemented") return;
      throw error;
    }
  };

  return {
    refusalOf,
    ensureVm: (vmCall, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const found = await existing(prepared, signal);
        const { isInitialized, ...vm } = found ?? (await create(prepared, signal));
        if (found === undefined || !isInitialized) await initialize(prepared, vm, signal);
        return { ...vm, isAdopted: found !== undefined };
      }),
    findVm: (vmCall, signal) =>
      toOutcome(vmCall, signal, async (prepared) => {
        const { isInitialized: _, ...vm } = await status(prepared, signal);
        return vm;
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
  };
}
