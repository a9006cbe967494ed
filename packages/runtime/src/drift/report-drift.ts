import { type Clock, isConfigError, type SecretData } from "@millwright/base";
import type { Driver, VmDifference } from "@millwright/core";
import type { Machine, MachineClass } from "@millwright/core/machine-api";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import type { Log } from "@millwright/kube";
import { createClassSource, onceByName } from "../drivers/class-source.ts";
import { createDriverHost, type DriverHost } from "../drivers/driver-host.ts";
import { type MachineSelection, type MachineSource, selectMachines } from "./select-machines.ts";

/** The result of the comparison of one machine. */
export interface MachineDrift {
  readonly machine: string;
  /** Empty for a machine without class. */
  readonly machineClass: string;
  /** Empty for a machine without VM. */
  readonly providerId: string;
  /** `skipped`: there is nothing to compare yet, or any more. */
  readonly outcome: "same" | "drifted" | "skipped" | "failed";
  /** Not empty when it drifted. */
  readonly differences: readonly VmDifference[];
  /** Why it was skipped or failed. */
  readonly because?: string;
}

/** Where VMs differ from their classes. */
export interface DriftReport {
  readonly namespace: string;
  /** `failed` when a comparison failed, else `drifted` when a VM differs. */
  readonly outcome: "same" | "drifted" | "failed";
  /** By name. */
  readonly machines: readonly MachineDrift[];
}

/** What {@link reportDrift} works with. */
export interface ReportDriftOptions extends MachineSource {
  readonly selection: MachineSelection;
  /** Loads the driver of a class; called once for each spelling of a provider. A `ConfigError` is reported for the machines of that class. */
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Comparisons under way at once. */
const mostAtOnce = 20;

/** A class with all that a comparison needs, or why it cannot be had. */
type ComparableClass =
  | { readonly machineClass: MachineClass; readonly secret: SecretData; readonly host: DriverHost }
  | { readonly problem: string };

/** Loads classes with their secrets and drivers, each once. */
function createClassLoader(options: ReportDriftOptions): (name: string) => Promise<ComparableClass> {
  const { clock, log } = options;
  const classNamed = createClassSource({
    ...options,
    needs: "a comparison needs to get machineclasses and their secrets",
  });
  const hostFor = onceByName(async (provider) => {
    const drivers = [await options.driverFor(provider)];
    return createDriverHost({ drivers, clock, log });
  });
  return onceByName(async (name): Promise<ComparableClass> => {
    const loaded = await classNamed(name);
    if ("problem" in loaded) return loaded;
    try {
      return { ...loaded, host: await hostFor(loaded.machineClass.provider ?? "") };
    } catch (error) {
      if (!isConfigError(error)) throw error;
      return { problem: `MachineClass "${name}": ${error.message}` };
    }
  });
}

/** Why there is nothing to compare; `undefined` when there is. */
function reasonToSkip({ metadata, spec }: Machine): string | undefined {
  if (metadata.deletionTimestamp != null) return "is being deleted";
  if ((spec.providerID ?? "") === "") return "has no VM yet";
  return undefined;
}

/** One machine compared with its class. */
async function compare(
  machine: Machine,
  classNamed: (name: string) => Promise<ComparableClass>,
  signal: AbortSignal,
): Promise<MachineDrift> {
  const machineClass = machine.spec.class?.name ?? "";
  const known = {
    machine: machine.metadata.name,
    machineClass,
    providerId: machine.spec.providerID ?? "",
    differences: [],
  } as const;
  const skipped = reasonToSkip(machine);
  if (skipped !== undefined) return { ...known, outcome: "skipped", because: skipped };
  if (machineClass === "") return { ...known, outcome: "failed", because: "spec.class.name is required" };
  const loaded = await classNamed(machineClass);
  if ("problem" in loaded) return { ...known, outcome: "failed", because: loaded.problem };
  const { host, ...call } = loaded;
  const answer = await host.findDrift({ machine, ...call }, signal);
  if (!answer.ok) return { ...known, outcome: "failed", because: `${answer.error.code}: ${answer.error.message}` };
  const { providerId, differences } = answer.value;
  return { ...known, providerId, differences, outcome: differences.length === 0 ? "same" : "drifted" };
}

/**
 * Compares the VMs of machines with what their classes ask for. Changes nothing. One machine that cannot be compared does not hold up the others.
 *
 * @throws ConfigError when the machines cannot be read; the reason of the signal when it aborts
 */
export async function reportDrift(options: ReportDriftOptions): Promise<DriftReport> {
  const { namespace, selection, signal } = options;
  const classNamed = createClassLoader(options);
  const limit = createInFlightLimit(mostAtOnce);
  const machines = await Promise.all(
    (await selectMachines(options, selection)).map((machine) =>
      limit(signal, () => compare(machine, classNamed, signal)),
    ),
  );
  signal.throwIfAborted();
  const has = (outcome: MachineDrift["outcome"]): boolean => machines.some((each) => each.outcome === outcome);
  return { namespace, outcome: has("failed") ? "failed" : has("drifted") ? "drifted" : "same", machines };
}
