import {
  checkDriverSecret,
  type ClassIdentity,
  type Driver,
  formatProblems,
  isDriverFor,
  type Machine,
  type MachineClass,
  MachineError,
  type MachineIdentity,
  readProviderSpec,
  type SecretData,
} from "@millwright/core";

/** A class as its driver understands it. */
export interface ReadClass {
  readonly driver: Driver;
  readonly machineClass: ClassIdentity<unknown>;
  readonly secret: SecretData;
}

/** Finds the driver of a class, and reads the class for it. */
export interface ClassReader {
  driverOf(machineClass: MachineClass): Driver | undefined;
  /** Why no driver can make machines of this class, as one sentence; `undefined` when one can. */
  refusalOf(machineClass: MachineClass): string | undefined;
  /**
   * Picks the driver, and has it read spec and secret.
   *
   * @throws MachineError InvalidArgument with every problem and its path
   */
  read(machineClass: MachineClass, secret: SecretData): Promise<ReadClass>;
}

/** Makes the reader of classes for some drivers. */
export function createClassReader(drivers: readonly Driver[]): ClassReader {
  const driverOf = ({ provider = "" }: MachineClass): Driver | undefined =>
    drivers.find((driver) => isDriverFor(driver, provider));
  const refusalOf = (machineClass: MachineClass): string | undefined => {
    if (driverOf(machineClass) !== undefined) return undefined;
    const known = drivers.map(({ name }) => `"${name}"`).join(", ");
    return `provider: no driver "${machineClass.provider ?? ""}" is loaded; expected ${known}`;
  };
  return {
    driverOf,
    refusalOf,
    async read(machineClass, secret) {
      const { name } = machineClass.metadata;
      const subject = `MachineClass "${name}"`;
      const driver = driverOf(machineClass);
      if (driver === undefined)
        throw new MachineError("InvalidArgument", `${subject}: ${refusalOf(machineClass) ?? ""}`);
      const spec = await readProviderSpec(driver, machineClass);
      if (!spec.ok) throw new MachineError("InvalidArgument", `${subject}: ${formatProblems(spec.problems)}`);
      const checked = await checkDriverSecret(driver, secret);
      if (!checked.ok)
        throw new MachineError("InvalidArgument", `Secret of ${subject}: ${formatProblems(checked.problems)}`);
      const { nodeTemplate } = machineClass;
      return {
        driver,
        machineClass: { name, spec: spec.spec, ...(nodeTemplate === undefined ? {} : { nodeTemplate }) },
        secret,
      };
    },
  };
}

/** The description of a machine for a driver. */
export function identityOf({ metadata, spec }: Machine): MachineIdentity {
  const { name, namespace = "", uid = "", labels, annotations } = metadata;
  const providerId = spec.providerID;
  const nodeAnnotations = spec.nodeTemplate?.metadata?.annotations;
  return {
    name,
    namespace,
    uid,
    ...(providerId === undefined || providerId === "" ? {} : { providerId }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(nodeAnnotations === undefined ? {} : { nodeAnnotations }),
  };
}
