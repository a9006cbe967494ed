import { type Clock, isConfigError, type SecretData } from "@millwright/base";
import { type CheckOutcome, type Driver, readProviderSpec, userDataKey } from "@millwright/core";
import { checkDriverSecret } from "@millwright/core/driver-host";
import { formatProblems, type MachineClass, taintKeys, validateMachineClass } from "@millwright/core/machine-api";
import { missingUserData } from "@millwright/controllers/driver-calls";
import { formatUnknownKeys, unknownKeysOf } from "@millwright/core/driver-kit";
import type { Log } from "@millwright/kube";
import type { LoadedClass } from "../drivers/class-source.ts";
import { createDriverHost, type DriverHost } from "../drivers/driver-host.ts";
import { userDataTexts } from "./user-data-texts.ts";

/** What {@link checkClass} works with. */
export interface CheckClassOptions {
  readonly classNamed: (name: string) => Promise<LoadedClass>;
  /** Loads the driver of a class; throws a `ConfigError` where there is none. */
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Deployments of the class whose size a cluster autoscaler changes. Default: none. */
  readonly autoscaled?: readonly string[] | undefined;
}

const failed = (name: string, message: string): CheckOutcome => ({ name, status: "failed", message });
const skipped = (name: string, message: string): CheckOutcome => ({ name, status: "skipped", message });

/** The driver of a class, or why it cannot be had. */
async function loadFor(provider: string, { driverFor }: CheckClassOptions): Promise<Driver | CheckOutcome> {
  try {
    return await driverFor(provider);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return failed("Driver", error.message);
  }
}

/** A class that its cloud can be asked about. */
interface ValidClass {
  readonly driver: Driver;
  readonly machineClass: MachineClass;
  readonly secret: SecretData;
}

/** Checks of a class and its secret that need no cloud; `valid` when they succeed. */
interface Configuration {
  readonly outcomes: readonly CheckOutcome[];
  readonly valid?: ValidClass;
}

/** A warning about keys that the driver ignores; none where it knows all. */
function unknownKeyChecks(driver: Driver, { providerSpec }: MachineClass): readonly CheckOutcome[] {
  const keys = unknownKeysOf(driver, providerSpec);
  if (keys.length === 0) return [];
  const message = `Driver "${driver.name}" ignores keys that it does not know: ${formatUnknownKeys(keys)}.`;
  return [{ name: "Keys", status: "warning", message, remedy: "Correct or remove them in providerSpec." }];
}

/** A warning where nodes that a cluster autoscaler waits for register without the startup taint. The user data is all that is known of them before they join. */
function startupTaintChecks(secret: SecretData, autoscaled: readonly string[]): readonly CheckOutcome[] {
  const name = "Startup taint";
  const key = taintKeys.templatePending;
  const userData = secret[userDataKey];
  const [first, ...others] = autoscaled;
  if (first === undefined || userData === undefined) return [];
  const texts = userDataTexts(Buffer.from(userData.revealBytes()));
  if (texts.length === 0) return [skipped(name, `The user data is not readable, so it may have taint ${key} or not.`)];
  // Ignition has files in URLs.
  if (texts.some((text) => text.includes(key) || text.includes(encodeURIComponent(key)))) return [];
  const scaled = `MachineDeployment ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`;
  const message = `A cluster autoscaler scales ${scaled}, and the user data does not mention taint ${key}. It may create a VM too many while a Node joins.`;
  const remedy =
    "Let the kubelet register with that taint, as docs/guides/user-data.md does. Nothing is to be done if the image sets it.";
  return [{ name, status: "warning", message, remedy }];
}

async function checkConfiguration(name: string, options: CheckClassOptions): Promise<Configuration> {
  const loaded = await options.classNamed(name);
  if ("problem" in loaded) return { outcomes: [failed(loaded.about, loaded.problem)] };
  const { machineClass, secret } = loaded;
  const general = validateMachineClass(machineClass);
  const driver = await loadFor(machineClass.provider ?? "", options);
  if (!("capabilities" in driver))
    return { outcomes: [...(general.length > 0 ? [failed("MachineClass", formatProblems(general))] : []), driver] };
  const [spec, keys] = await Promise.all([readProviderSpec(driver, machineClass), checkDriverSecret(driver, secret)]);
  const problems = [...general, ...(spec.ok ? [] : spec.problems)];
  const classOutcome: CheckOutcome =
    problems.length === 0
      ? { name: "MachineClass", status: "ok", message: `Driver "${driver.name}" accepts its fields.` }
      : failed("MachineClass", formatProblems(problems));
  const keyProblem = keys.ok ? missingUserData(machineClass, secret) : formatProblems(keys.problems);
  const secretOutcome: CheckOutcome =
    keyProblem === undefined
      ? { name: "Secret", status: "ok", message: "It has the keys that the driver needs." }
      : failed("Secret", keyProblem);
  const taint = startupTaintChecks(secret, options.autoscaled ?? []);
  const outcomes = [classOutcome, ...unknownKeyChecks(driver, machineClass), secretOutcome, ...taint];
  return problems.length === 0 && keys.ok ? { outcomes, valid: { driver, machineClass, secret } } : { outcomes };
}

async function checkCloud(host: DriverHost, call: ValidClass, signal: AbortSignal): Promise<readonly CheckOutcome[]> {
  const answer = await host.checkClass(call, signal);
  signal.throwIfAborted();
  if (answer.ok) return answer.value.checks;
  const { code, message } = answer.error;
  return [code === "Unimplemented" ? skipped("Cloud", message) : failed("Cloud", `${code}: ${message}`)];
}

async function checkNodeTemplate(host: DriverHost, call: ValidClass, signal: AbortSignal): Promise<CheckOutcome> {
  const name = "Node template";
  if (call.machineClass.nodeTemplate !== undefined)
    return { name, status: "ok", message: "The class has a nodeTemplate." };
  const remedy = "Add a nodeTemplate to the MachineClass.";
  if (!host.reportsCapacity(call.machineClass)) {
    const message =
      "The autoscaler cannot scale from zero: neither the class nor its driver has the capacity of a node.";
    return { name, status: "warning", message, remedy };
  }
  const answer = await host.capacityOf(call, signal);
  signal.throwIfAborted();
  if (!answer.ok) return { ...failed(name, `The autoscaler cannot scale from zero: ${answer.error.message}`), remedy };
  const { cpu, memory } = answer.value.capacity;
  return { name, status: "ok", message: `A node has cpu ${String(cpu)} and memory ${String(memory)}.` };
}

/**
 * Checks a class: its fields, its secrets and its driver, then by its driver against the cloud, then what its nodes would have. Creates nothing. What depends on a check that failed is skipped.
 *
 * @throws ConfigError where the API server is unreachable, or does not allow to read classes and secrets
 */
export async function checkClass(name: string, options: CheckClassOptions): Promise<readonly CheckOutcome[]> {
  const { clock, log, signal } = options;
  const { outcomes, valid } = await checkConfiguration(name, options);
  if (valid === undefined)
    return [...outcomes, skipped("Cloud", "Not checked until the class, its secret and its driver are valid.")];
  const host = createDriverHost({ drivers: [valid.driver], clock, log });
  const cloud = await checkCloud(host, valid, signal);
  const hasFailed = cloud.some(({ status }) => status === "failed");
  const template = hasFailed
    ? skipped("Node template", "Not checked until the checks of the cloud pass.")
    : await checkNodeTemplate(host, valid, signal);
  return [...outcomes, ...cloud, template];
}
