import { Secret, type SecretData, nearestName } from "@millwright/base";
import { userDataKey } from "@millwright/core";
import {
  formatProblems,
  type Machine,
  type MachineClass,
  machineEventReasons,
  validateMachineClass,
  writtenClassAnnotations,
} from "@millwright/core/machine-api";
import { stableHash } from "@millwright/core/driver-kit";
import type { ControlCaches } from "./caches.ts";
import type { SecretObject } from "../model/node-objects.ts";
import { shapeProblemsOf } from "./readable.ts";
import type { SecretValues } from "./secret-cache.ts";
import { secretNamesOf } from "../model/class-references.ts";
import type { ClassProblem, MachineDriver } from "../model/driver-port.ts";

/** A class with its secrets as they were looked up for one machine. */
export interface ResolvedClass {
  readonly view: ClassView;
  /** Identifies what a driver gets of the class and the secrets: what the controllers write themselves, such as a finalizer, is none of it. */
  readonly inputs: string;
  readonly secret: SecretData;
  /** Names of the secrets to read before the class can be resolved; see `SecretCache.read`. */
  readonly unread: readonly string[];
}

const unusable = (reason: string, problem: string, inputs: string, isMissing = false): ResolvedClass => ({
  view: { state: "unusable", reason, problem, isMissing },
  inputs,
  secret: {},
  unread: [],
});

/**
 * A memo of frozen values: a Secret is decoded once for each version that the cache holds, whose entry is dropped with it. So there is one `Secret` object for each value, and what
 * drivers derive from it and keep by that object is found again.
 */
const dataByValues = new WeakMap<SecretValues, SecretData>();

function decode(values: SecretValues): SecretData {
  const present = dataByValues.get(values);
  if (present !== undefined) return present;
  const made = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Secret.of(Buffer.from(value, "base64"))]),
  );
  dataByValues.set(values, made);
  return made;
}

/** Decodes the base64 values of Secrets into a type that does not print. Of duplicate keys the last wins. */
export const readSecretValues = (secrets: readonly SecretValues[]): SecretData =>
  Object.fromEntries(secrets.flatMap((values) => Object.entries(decode(values))));

/** The annotations of a class without those that the controllers write. */
export const givenAnnotations = ({ metadata }: MachineClass): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !writtenClassAnnotations.has(key)));

/** A memo of frozen objects: each version of a class that the cache holds is hashed once, however many machines it has. Its entry is dropped with it. */
const inputsByClass = new WeakMap<MachineClass, string>();

function inputsOf(machineClass: MachineClass): string {
  const present = inputsByClass.get(machineClass);
  if (present !== undefined) return present;
  const { metadata, nodeTemplate: _, ...rest } = machineClass;
  const made = stableHash([metadata.uid, givenAnnotations(machineClass), rest]);
  inputsByClass.set(machineClass, made);
  return made;
}

/** Looks up the class of a machine and its secrets; see {@link resolveNamedClass}. */
export const resolveClass = (
  machine: Machine,
  caches: ControlCaches,
  namespace: string,
  driver: Pick<MachineDriver, "missingDriver">,
): ResolvedClass => resolveNamedClass(machine.spec.class?.name ?? "", caches, namespace, driver);

/**
 * Looks up a class and its secrets, in this order: the class, its fields, its driver, its secrets. Reports the first problem
 * and what is expected instead.
 */
export function resolveNamedClass(
  name: string,
  caches: ControlCaches,
  namespace: string,
  driver: Pick<MachineDriver, "missingDriver">,
): ResolvedClass {
  const found = caches.classes.store.getByRef({ namespace, name });
  if (found === undefined) {
    const problem = `spec.class.name: MachineClass "${name}" does not exist in namespace ${namespace}; create it, or reference an existing one`;
    return unusable(machineEventReasons.machineClassNotFound, problem, "", true);
  }
  const secrets = secretNamesOf(found).map((secret) => ({
    name: secret,
    object: caches.secrets.store.getByRef({ namespace, name: secret }),
    values: caches.secrets.valuesOf(secret),
  }));
  const inputs = [inputsOf(found), ...secrets.map(({ object }) => object?.digest ?? "-")].join("/");
  return resolveContent(found, secrets, inputs, driver);
}

/** Why machines of a class cannot boot: its Secrets have no user data. Names the key that was probably meant; `undefined` where there is one. */
export function missingUserData(machineClass: MachineClass, secret: SecretData): string | undefined {
  if (secret[userDataKey] !== undefined) return undefined;
  const names = secretNamesOf(machineClass).map((name) => `"${name}"`);
  const near = nearestName(userDataKey, Object.keys(secret));
  return `key "${userDataKey}" is missing in Secret ${names.join(", ")}${near === undefined ? "" : `, which has key "${near}"`}; machines cannot boot without it`;
}

/** A Secret of a class, as far as it exists and was read. */
interface FoundSecret {
  readonly name: string;
  readonly object: SecretObject | undefined;
  readonly values: SecretValues | undefined;
}

function resolveContent(
  machineClass: MachineClass,
  secrets: readonly FoundSecret[],
  inputs: string,
  driver: Pick<MachineDriver, "missingDriver">,
): ResolvedClass {
  const subject = `MachineClass "${machineClass.metadata.name}"`;
  const problems = [...shapeProblemsOf(machineClass), ...validateMachineClass(machineClass)];
  const invalid = {
    reason: machineEventReasons.invalidMachineClass,
    problem: `${subject}: ${formatProblems(problems)}`,
  };
  // A VM is found and deleted without the template of its node.
  if (problems.some(({ path }) => !path.startsWith("nodeTemplate")))
    return unusable(invalid.reason, invalid.problem, inputs);
  const rejection = driver.missingDriver(machineClass);
  if (rejection !== undefined) return unusable(machineEventReasons.driverNotFound, `${subject}: ${rejection}`, inputs);
  const existing = secrets.filter(({ object }) => object !== undefined);
  const missing = secrets.find(({ object }) => object === undefined);
  const notFound = missing && {
    reason: machineEventReasons.secretNotFound,
    problem: `${subject}: Secret "${missing.name}" does not exist in namespace ${machineClass.metadata.namespace ?? ""}`,
  };
  // The other Secret has the user data, which only a creation needs.
  const hasCredentials = existing.some(({ name }) => name === machineClass.credentialsSecretRef?.name);
  if (notFound !== undefined && !hasCredentials) return unusable(notFound.reason, notFound.problem, inputs);
  const unread = existing.filter(({ values }) => values === undefined).map(({ name }) => name);
  if (unread.length > 0) {
    const problem = `${subject}: Secret "${unread.join('", "')}" has not been read yet`;
    return { ...unusable(machineEventReasons.secretNotFound, problem, inputs), unread };
  }
  const secret = readSecretValues(existing.map(({ values = {} }) => values));
  const bootProblem = missingUserData(machineClass, secret);
  const withoutUserData = bootProblem && {
    reason: machineEventReasons.invalidSecret,
    problem: `${subject}: ${bootProblem}`,
  };
  const unmetPrecondition = problems.length > 0 ? invalid : (notFound ?? withoutUserData);
  const view = { state: "usable", machineClass, ...(unmetPrecondition && { unmetPrecondition }) } as const;
  return { view, inputs, secret, unread };
}

/** The class of a machine as far as it could be read. */
export type ClassView =
  | {
      readonly state: "usable";
      readonly machineClass: MachineClass;
      /** What prevents new machines from booting; existing ones can still be reconciled and deleted. */
      readonly unmetPrecondition?: ClassProblem;
    }
  | ({ readonly state: "unusable"; readonly isMissing: boolean } & ClassProblem);
