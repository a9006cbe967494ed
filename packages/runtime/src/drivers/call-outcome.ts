import type { ClassCall, DriverOutcome, VmCall } from "@millwright/controllers";
import type { Secret } from "@millwright/base";
import { isMachineError, MachineError } from "@millwright/core";
import type { Log } from "@millwright/kube";
import type { CallLimit } from "./call-limit.ts";
import { toMachineError, withCleanState } from "./driver-failure.ts";
import type { ClassReader, ClassReading, ReadClass } from "./read-class.ts";
import { TokenFailure } from "./vm-calls.ts";

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

/** Reads a class, acts with it, and makes a value of what is returned or thrown. */
export type ToOutcome = <Result>(
  reading: ClassReading,
  call: ClassCall & Partial<VmCall>,
  signal: AbortSignal,
  run: (read: ReadClass, confidential: Record<string, Secret>) => Promise<Result>,
) => Promise<DriverOutcome<Result>>;

/** Makes the function that all calls of a host are made in. A failure without a code is logged. */
export const createToOutcome =
  (classes: ClassReader, limit: CallLimit, log: Log): ToOutcome =>
  async (reading, { machineClass, secret, machine }, signal, run) => {
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
