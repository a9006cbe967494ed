import { checkDefinition } from "./check-definition.ts";
import { type DeclaredContractVersion, driverContractVersion, negotiateContractVersion } from "./contract-version.ts";
import type { Driver } from "./driver.ts";
import { matchNodeByTemplates } from "./node-match-templates.ts";

/** What {@link defineDriver} takes: a driver without the parts that it fills in. */
export type DriverDefinition<Spec> = Omit<Driver<Spec>, "contractVersion" | "capabilities" | "getVolumeIds"> & {
  /** The version of the contract that the driver was written for, or the range of those that it can be called by; the current one by default. */
  readonly contractVersion?: DeclaredContractVersion;
  /** Omitted by drivers whose infrastructure has no volumes: no volume is then theirs. */
  readonly getVolumeIds?: Driver<Spec>["getVolumeIds"];
};

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
  const { listMachines, initializeMachine, getVolumeIds, findDrift, getNodeTemplate, checkClass } = definition;
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
    ...nodeMatchOf(definition),
    ...(listMachines === undefined ? {} : { listMachines: listMachines.bind(definition) }),
    ...(initializeMachine === undefined ? {} : { initializeMachine: initializeMachine.bind(definition) }),
    ...(findDrift === undefined ? {} : { findDrift: findDrift.bind(definition) }),
    ...(getNodeTemplate === undefined ? {} : { getNodeTemplate: getNodeTemplate.bind(definition) }),
    ...(checkClass === undefined ? {} : { checkClass: checkClass.bind(definition) }),
  });
}

/** How Nodes are matched: by the method, by templates, or by neither. */
function nodeMatchOf(
  definition: Pick<Driver, "matchNode" | "providerIdTemplates">,
): Pick<Driver, "matchNode" | "providerIdTemplates"> {
  const { matchNode, providerIdTemplates: templates } = definition;
  const method = matchNode === undefined ? {} : { matchNode: matchNode.bind(definition) };
  if (templates === undefined) return method;
  return { matchNode: matchNodeByTemplates(templates), ...method, providerIdTemplates: Object.freeze([...templates]) };
}

/** Whether `MachineClass.provider` means this driver. Case does not matter: Gardener writes "AWS", drivers are called "aws". */
export function isDriverFor(driver: Pick<Driver, "name">, provider: string): boolean {
  return driver.name.toLowerCase() === provider.toLowerCase();
}

const noVolumes: Driver["getVolumeIds"] = (request) =>
  Promise.resolve({ volumeIds: request.volumes.map(() => undefined) });
