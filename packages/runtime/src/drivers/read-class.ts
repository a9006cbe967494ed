import type { SecretData } from "@millwright/base";
import {
  type ClassIdentity,
  type Driver,
  MachineError,
  type MachineIdentity,
  readProviderSpec,
  readSpecOfVm,
} from "@millwright/core";
import { checkDriverSecret, checkSecretWithoutUserData, isDriverFor } from "@millwright/core/driver-host";
import {
  annotationKeys,
  formatProblems,
  type Machine,
  type MachineClass,
  machineEventReasons,
} from "@millwright/core/machine-api";
import { formatUnknownKeys, unknownKeysOf } from "@millwright/core/driver-kit";
import type { ClassProblem } from "@millwright/controllers";
import { runInDriverScope } from "./stray-errors.ts";

/** A class as its driver understands it. */
export interface ReadClass {
  readonly driver: Driver;
  readonly machineClass: ClassIdentity<unknown>;
  readonly secret: SecretData;
}

/** What a call reads a class for: the creation of a VM, a call about the class or a VM, or a call that finds or deletes a VM. */
export type ClassReading = "creation" | "other" | "existingVm";

/** A creation needs all of a class. Other calls need no user data; and what finds or deletes a VM needs no valid spec, see `readSpecOfVm`. */
const readers = {
  creation: { readSpec: readProviderSpec, checkSecret: checkDriverSecret },
  other: { readSpec: readProviderSpec, checkSecret: checkSecretWithoutUserData },
  existingVm: { readSpec: readSpecOfVm, checkSecret: checkSecretWithoutUserData },
} as const;

/** Finds the driver of a class, and reads the class for it. */
export interface ClassReader {
  driverOf(machineClass: MachineClass): Driver | undefined;
  /** Why no driver can make machines of this class, as one sentence; `undefined` when one can. */
  missingDriver(machineClass: MachineClass): string | undefined;
  /** Why the driver of a class rejects its spec or its secret; `undefined` when it accepts both. Without a secret, only the spec counts. */
  rejectionOf(machineClass: MachineClass, secret: SecretData | undefined): Promise<ClassProblem | undefined>;
  /** Keys of the spec of a class that its driver ignores, as a text for people. */
  unknownKeysOf(machineClass: MachineClass): string;
  /**
   * Picks the driver, and has it read spec and secret as far as a call needs them.
   *
   * @throws MachineError InvalidArgument with every problem and its path
   */
  read(machineClass: MachineClass, secret: SecretData, reading: ClassReading): Promise<ReadClass>;
}

/** Makes the reader of classes for some drivers. */
export function createClassReader(drivers: readonly Driver[]): ClassReader {
  const driverOf = ({ provider = "" }: MachineClass): Driver | undefined =>
    drivers.find((driver) => isDriverFor(driver, provider));
  const missingDriver = (machineClass: MachineClass): string | undefined => {
    if (driverOf(machineClass) !== undefined) return undefined;
    const known = drivers.map(({ name }) => `"${name}"`).join(", ");
    return `provider: no driver "${machineClass.provider ?? ""}" is loaded; expected ${known}`;
  };
  const inspect = async (
    machineClass: MachineClass,
    secret: SecretData | undefined,
    reading: ClassReading,
  ): Promise<ReadClass | ClassProblem> => {
    const { name } = machineClass.metadata;
    const subject = `MachineClass "${name}"`;
    const driver = driverOf(machineClass);
    if (driver === undefined) {
      const problem = `${subject}: ${missingDriver(machineClass) ?? ""}`;
      return { reason: machineEventReasons.driverNotFound, problem };
    }
    const { readSpec, checkSecret } = readers[reading];
    const scope = { driver: driver.name, confidential: secret ?? {} };
    const spec = await runInDriverScope(scope, () => readSpec(driver, machineClass));
    if (!spec.ok) {
      const problem = `${subject}: ${formatProblems(spec.problems)}`;
      return { reason: machineEventReasons.invalidMachineClass, problem };
    }
    const checked = secret === undefined ? undefined : await runInDriverScope(scope, () => checkSecret(driver, secret));
    if (checked?.ok === false) {
      const problem = `Secret of ${subject}: ${formatProblems(checked.problems)}`;
      return { reason: machineEventReasons.invalidSecret, problem };
    }
    const { nodeTemplate } = machineClass;
    return {
      driver,
      machineClass: { name, spec: spec.spec, ...(nodeTemplate === undefined ? {} : { nodeTemplate }) },
      secret: secret ?? {},
    };
  };
  const required = (result: ReadClass | ClassProblem): ReadClass => {
    if ("problem" in result) throw new MachineError("InvalidArgument", result.problem);
    return result;
  };
  return {
    driverOf,
    missingDriver,
    async rejectionOf(machineClass, secret) {
      const result = await inspect(machineClass, secret, "creation");
      return "problem" in result ? result : undefined;
    },
    unknownKeysOf(machineClass) {
      const driver = driverOf(machineClass);
      return driver === undefined ? "" : formatUnknownKeys(unknownKeysOf(driver, machineClass.providerSpec));
    },
    read: async (machineClass, secret, reading) => required(await inspect(machineClass, secret, reading)),
  };
}

/** The description of a machine for a driver. */
export function identityOf({ metadata, spec }: Machine): MachineIdentity {
  const { name, namespace = "", uid = "", labels, annotations } = metadata;
  const providerId = spec.providerID;
  // A VM keeps the name that it was created with.
  const vmName = (providerId ?? "") === "" ? undefined : annotations?.[annotationKeys.vmName];
  const nodeAnnotations = spec.nodeTemplate?.metadata?.annotations;
  return {
    name: vmName ?? name,
    namespace,
    uid,
    ...(providerId === undefined || providerId === "" ? {} : { providerId }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(nodeAnnotations === undefined ? {} : { nodeAnnotations }),
  };
}
