import type {
  CapacityDriver,
  ClassCall,
  ClassProblem,
  DriverOutcome,
  MachineDriver,
  OperationResult,
  VmCall,
  VmListDriver,
} from "@millwright/controllers";
import type { Clock } from "@millwright/base";
import type { CheckClassResponse, Driver, FindDriftResponse } from "@millwright/core";
import type { MachineClass } from "@millwright/core/machine-api";
import type { Log } from "@millwright/kube";
import type { DriverMetrics } from "../metrics/driver-metrics.ts";
import type { CloudRecorder } from "../recording/cloud-recorder.ts";
import { createAbandonedCalls } from "./abandoned-calls.ts";
import { createDriverCaller, type EndedCall } from "./call-driver.ts";
import { createCallLimit } from "./call-limit.ts";
import { checkClass, listVms, readCapacity } from "./class-calls.ts";
import { createToOutcome } from "./call-outcome.ts";
import { cleanText } from "./driver-failure.ts";
import { type ClassReader, type ClassReading, createClassReader, identityOf } from "./read-class.ts";
import { findVmById } from "./find-vm-by-id.ts";
import type { RunningCalls } from "./running-calls.ts";
import {
  deleteVm,
  ensureVm,
  findDrift,
  findVm,
  initializeVm,
  type Prepared,
  readVolumeIds,
  type VmCaller,
  type VmMethodCall,
} from "./vm-calls.ts";

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

/** A call about a VM, which ends before the next one about the same machine that changes something. */
const createVmCall =
  (
    makeCall: ReturnType<typeof createDriverCaller>,
    abandonedCalls: ReturnType<typeof createAbandonedCalls>,
  ): VmMethodCall =>
  ({ driver, request, confidential }, method, argument, invoke, signal) =>
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

/** Hosts drivers: finds the one for a class, reads the class with its schema, sets deadlines, and turns whatever it does into values. */
export function createDriverHost(options: DriverHostOptions): DriverHost {
  const { drivers, clock, log } = options;
  const abandonedCalls = createAbandonedCalls(clock, log);
  const limit = createCallLimit(clock, options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS);
  const classes = createClassReader(drivers);
  const makeCall = createDriverCaller({ ...options, limit });
  const caller: VmCaller = { call: createVmCall(makeCall, abandonedCalls), limit, clock, log };
  const toOutcome = createToOutcome(classes, limit, log);

  /** Waits for the abandoned calls about the machine, then makes one. */
  const aboutVm = <Result = OperationResult>(
    reading: ClassReading,
    vmCall: VmCall,
    signal: AbortSignal,
    run: (prepared: Prepared) => Promise<Result>,
  ): Promise<DriverOutcome<Result>> =>
    toOutcome(reading, vmCall, signal, async ({ driver, machineClass, secret }, confidential) => {
      const machine = identityOf(vmCall.machine);
      await abandonedCalls.settled(machine.uid, signal);
      return run({ driver, confidential, request: { machine, machineClass, secret } });
    });

  // A VM is found and deleted without a valid class.
  const find = (call: VmCall, signal: AbortSignal): Promise<DriverOutcome<OperationResult>> =>
    aboutVm("existingVm", call, signal, (prepared) => findVm(caller, prepared, signal));
  const listsVms = (machineClass: MachineClass): boolean =>
    classes.driverOf(machineClass)?.capabilities.listMachines === true;
  // A spec that is read less strictly may lack what separates the VMs of this cluster from others.
  const list: VmListDriver["listVms"] = (call, signal) =>
    toOutcome("other", call, signal, (read, confidential) => listVms(makeCall, { read, confidential }, signal));

  return {
    missingDriver: (machineClass) => classes.missingDriver(machineClass),
    rejectionOf: createRejectionCheck(classes, clock),
    unknownKeysOf: (machineClass) => cleanText(classes.unknownKeysOf(machineClass), {}),
    ensureVm: (call, signal) =>
      aboutVm("creation", call, signal, (prepared) => ensureVm(caller, prepared, call, signal)),
    initializeVm: (call, signal) =>
      aboutVm("other", call, signal, (prepared) => initializeVm(caller, prepared, signal)),
    findVm: (call, signal) => findVmById(call, { find, listsVms, list }, signal),
    deleteVm: (call, signal) =>
      aboutVm("existingVm", call, signal, (prepared) => deleteVm(caller, prepared, call, signal)),
    volumeIds: (call, specs, signal) =>
      aboutVm("existingVm", call, signal, (prepared) => readVolumeIds(caller, prepared, specs, signal)),
    findDrift: (call, signal) => aboutVm("other", call, signal, (prepared) => findDrift(caller, prepared, signal)),
    reportsCapacity: (machineClass) => classes.driverOf(machineClass)?.capabilities.nodeTemplate === true,
    capacityOf: (call, signal) =>
      toOutcome("other", call, signal, (read, confidential) =>
        readCapacity(makeCall, { read, confidential, machineClass: call.machineClass }, signal),
      ),
    listsVms,
    listVms: list,
    checkClass: (call, signal) =>
      toOutcome("creation", call, signal, (read, confidential) => checkClass(makeCall, { read, confidential }, signal)),
  };
}
