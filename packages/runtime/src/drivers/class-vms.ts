import { type Clock, ConfigError, isConfigError } from "@millwright/base";
import type { Driver, ListedMachine } from "@millwright/core";
import type { Log } from "@millwright/kube";
import { type ClassSourceOptions, createClassSource, onceByName } from "./class-source.ts";
import { createDriverHost } from "./driver-host.ts";

/** How commands list the VMs of classes. */
export interface ClassVmsOptions extends ClassSourceOptions {
  /** Loads the driver of a class; called once for each spelling of a provider. */
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
  /** What else helps when a list cannot be had, such as a flag. */
  readonly remedy: string;
}

/**
 * Makes what lists the VMs of a class by its name.
 *
 * @returns a function that throws ConfigError with the reason when there is no list
 */
export function createClassVms(options: ClassVmsOptions): (name: string) => Promise<readonly ListedMachine[]> {
  const { driverFor, clock, log, signal, remedy } = options;
  const classNamed = createClassSource(options);
  const hostFor = onceByName(async (provider) =>
    createDriverHost({ drivers: [await driverFor(provider)], clock, log }),
  );
  return async (name) => {
    const loaded = await classNamed(name);
    if ("problem" in loaded) throw new ConfigError(`${loaded.problem}; ${remedy}`);
    const { machineClass, secret } = loaded;
    const host = await hostFor(machineClass.provider ?? "").catch((error: unknown) => {
      throw isConfigError(error)
        ? new ConfigError(`MachineClass "${name}": ${error.message}; ${remedy}`, { cause: error })
        : error;
    });
    const outcome = await host.listVms({ machineClass, secret }, signal);
    if (outcome.ok) return outcome.value;
    const { code, message } = outcome.error;
    throw new ConfigError(`Cannot list the VMs of MachineClass "${name}": ${code}: ${message}; ${remedy}`);
  };
}
