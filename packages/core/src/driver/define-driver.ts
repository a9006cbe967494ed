import { ConfigError } from "@millwright/base";
import { type DeclaredContractVersion, driverContractVersion, negotiateContractVersion } from "./contract-version.ts";
import type { Driver } from "./driver.ts";

/** What {@link defineDriver} takes: a driver without the parts that it fills in. */
export type DriverDefinition<Spec> = Omit<Driver<Spec>, "contractVersion" | "capabilities" | "getVolumeIds"> & {
  /** The version of the contract that the driver was written for, or the range of those that it can be called by; the current one by default. */
  readonly contractVersion?: DeclaredContractVersion;
  /** Omitted by drivers whose infrastructure has no volumes: no volume is then theirs. */
  readonly getVolumeIds?: Driver<Spec>["getVolumeIds"];
};

const mandatoryMethods = ["createMachine", "deleteMachine", "getMachineStatus"] as const;
const optionalMethods = [
  "matchNode",
  "getVolumeIds",
  "listMachines",
  "initializeMachine",
  "findDrift",
  "getNodeTemplate",
  "checkClass",
] as const;

/**
 * Creates a driver from its methods: checks that nothing is missing, derives the capabilities and freezes the result. The methods keep
 * their `this`, so an instance of a class is fine. A host calls this again with the export of a driver package, which changes nothing.
 *
 * Throws `ConfigError` at once for a definition that cannot work, naming the driver and the part.
 *
 * @example
 * export default defineDriver({
 *   name: "mock",
 *   spec: z.strictObject({ machineType: z.string() }),
 *   async createMachine(request, context) { … },
 *   async deleteMachine(request, context) { … },
 *   async getMachineStatus(request, context) { … },
 * });
 */
export function defineDriver<Spec>(definition: DriverDefinition<Spec>): Driver<Spec> {
  const subject = checkDefinition(definition);
  const { contractVersion = driverContractVersion } = definition;
  negotiateContractVersion(contractVersion, subject);
  const { matchNode, listMachines, initializeMachine, getVolumeIds, findDrift, getNodeTemplate, checkClass } =
    definition;
  return Object.freeze({
    name: definition.name,
    // As declared, for a host with another copy of this package.
    contractVersion,
    capabilities: Object.freeze({
      listMachines: listMachines !== undefined,
      initializeMachine: initializeMachine !== undefined,
      volumeIds: getVolumeIds !== undefined && !(getVolumeIds === noVolumes),
      drift: findDrift !== undefined,
      nodeTemplate: getNodeTemplate !== undefined,
      classChecks: checkClass !== undefined,
    }),
    spec: definition.spec,
    ...(definition.vmSpec === undefined ? {} : { vmSpec: definition.vmSpec }),
    ...(definition.secret === undefined ? {} : { secret: definition.secret }),
    createMachine: definition.createMachine.bind(definition),
    deleteMachine: definition.deleteMachine.bind(definition),
    getMachineStatus: definition.getMachineStatus.bind(definition),
    getVolumeIds: getVolumeIds === undefined || getVolumeIds === noVolumes ? noVolumes : getVolumeIds.bind(definition),
    ...(matchNode === undefined ? {} : { matchNode: matchNode.bind(definition) }),
    ...(listMachines === undefined ? {} : { listMachines: listMachines.bind(definition) }),
    ...(initializeMachine === undefined ? {} : { initializeMachine: initializeMachine.bind(definition) }),
    ...(findDrift === undefined ? {} : { findDrift: findDrift.bind(definition) }),
    ...(getNodeTemplate === undefined ? {} : { getNodeTemplate: getNodeTemplate.bind(definition) }),
    ...(checkClass === undefined ? {} : { checkClass: checkClass.bind(definition) }),
  });
}

/** Whether `MachineClass.provider` means this driver. Case does not matter: Gardener writes "AWS", drivers are called "aws". */
export function isDriverFor(driver: Pick<Driver, "name">, provider: string): boolean {
  return driver.name.toLowerCase() === provider.toLowerCase();
}

const noVolumes: Driver["getVolumeIds"] = (request) =>
  Promise.resolve({ volumeIds: request.volumes.map(() => undefined) });

/** Checks a definition that may come from untyped code; returns the name of the driver for messages. */
function checkDefinition(definition: unknown): string {
  if (typeof definition !== "object" || definition === null) {
    throw new ConfigError(`a driver must be an object created by defineDriver, not ${describe(definition)}`);
  }
  const part = (name: string): unknown => Reflect.get(definition, name);
  const name = part("name");
  if (typeof name !== "string" || !/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i.test(name)) {
    throw new ConfigError(
      `the name of a driver must be 1 to 63 letters, digits, dots or dashes that a MachineClass can name in "provider", not ${describe(name)}`,
    );
  }
  const subject = `driver "${name}"`;
  if (!isStandardSchema(part("spec"))) {
    throw new ConfigError(
      `${subject}: "spec" must be a Standard Schema (such as a zod object) that reads providerSpec`,
    );
  }
  for (const schema of ["vmSpec", "secret"]) {
    if (part(schema) !== undefined && !isStandardSchema(part(schema)))
      throw new ConfigError(`${subject}: "${schema}" must be a Standard Schema or left out`);
  }
  for (const method of mandatoryMethods) {
    if (typeof part(method) !== "function") throw new ConfigError(`${subject}: method "${method}" is missing`);
  }
  for (const method of optionalMethods) {
    if (part(method) !== undefined && typeof part(method) !== "function") {
      throw new ConfigError(`${subject}: "${method}" must be a function or left out, not ${describe(part(method))}`);
    }
  }
  return subject;
}

function isStandardSchema(value: unknown): boolean {
  // Some libraries make schemas that are callable.
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const props: unknown = Reflect.get(value, "~standard");
  return (
    typeof props === "object" &&
    props !== null &&
    Reflect.get(props, "version") === 1 &&
    typeof Reflect.get(props, "validate") === "function"
  );
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : value === null ? "null" : typeof value;
}
