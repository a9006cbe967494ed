import { readSecretValues, secretNamesOf } from "@millwright/controllers";
import {
  type Clock,
  type Driver,
  formatProblems,
  isConfigError,
  type Machine,
  type MachineClass,
  machineClassResource,
  readMachineClass,
  type SecretData,
  type VmDifference,
} from "@millwright/core";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import { type ApiObject, isNotFound, type Log, secretResource } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { createDriverHost, type DriverHost } from "../drivers/driver-host.ts";
import { type MachineSelection, type MachineSource, selectMachines } from "./select-machines.ts";

/** What became of the comparison of one machine. */
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
  /** Loads the driver of a class; called once for each spelling of a provider. A `ConfigError` is told with the machines of that class. */
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

/** Calls a function once for each name. */
function onceByName<T>(load: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const loaded = new Map<string, Promise<T>>();
  return (name) => {
    const promise = loaded.get(name) ?? load(name);
    loaded.set(name, promise);
    return promise;
  };
}

/** Loads classes with their secrets and drivers, each once. */
function createClassLoader(options: ReportDriftOptions): (name: string) => Promise<ComparableClass> {
  const { control, namespace, signal, clock, log } = options;
  const get = async (type: typeof machineClassResource | typeof secretResource, name: string) => {
    try {
      return await control.get<ApiObject & { readonly data?: Readonly<Record<string, string>> }>(
        type,
        { namespace, name },
        { signal },
      );
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw explainFailure(error, "a comparison needs to get machineclasses and their secrets");
    }
  };
  const hostFor = onceByName(async (provider) => {
    const drivers = [await options.driverFor(provider)];
    return createDriverHost({ drivers, hasTarget: false, clock, log });
  });
  const secretNamed = onceByName((name) => get(secretResource, name));

  return onceByName(async (name): Promise<ComparableClass> => {
    const subject = `MachineClass "${name}"`;
    const raw = await get(machineClassResource, name);
    if (raw === undefined) return { problem: `${subject} does not exist in namespace ${namespace}` };
    const read = readMachineClass(raw);
    if (!read.ok) return { problem: `${subject} cannot be read: ${formatProblems(read.problems)}` };
    const machineClass = read.value;
    const secrets = await Promise.all(
      secretNamesOf(machineClass).map(async (secret) => ({ secret, object: await secretNamed(secret) })),
    );
    const missing = secrets.find(({ object }) => object === undefined);
    if (missing !== undefined)
      return { problem: `${subject}: Secret "${missing.secret}" does not exist in namespace ${namespace}` };
    const secret = readSecretValues(secrets.map(({ object }) => object?.data ?? {}));
    try {
      return { machineClass, secret, host: await hostFor(machineClass.provider ?? "") };
    } catch (error) {
      if (!isConfigError(error)) throw error;
      return { problem: `${subject}: ${error.message}` };
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
