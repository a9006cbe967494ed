import {
  type Machine,
  machineDeploymentResource,
  machineResource,
  type MachineDeployment,
  type MachineSet,
  machineSetResource,
  readMachineDeployment,
} from "@millwright/core";
import { explainFailure } from "./explain-failure.ts";
import {
  countPhases,
  type FailedMachine,
  failedMachines,
  isOwnedBy,
  revisionOf,
  reportedConditions,
  type ReportedCondition,
} from "./group-report.ts";
import { type NamedObject, readNamed } from "./read-named.ts";
import { unknownAnnotations } from "./unknown-annotations.ts";

/** A set of a deployment, with its machines by what they are doing. */
export interface SetReport {
  readonly name: string;
  /** As the set carries it; empty where it carries none. */
  readonly revision: string;
  /** Whether it has the revision of the deployment, so that its template is the one that is rolled out. */
  readonly isCurrent: boolean;
  readonly className: string;
  readonly desired: number;
  /** Number of machines by phase, in the order of the phases' names; without a phase yet: `being created`. */
  readonly phases: Readonly<Record<string, number>>;
}

/** What is known of a deployment. */
export interface DeploymentReport {
  readonly name: string;
  readonly namespace: string;
  /** Whether the controllers have taken note of the spec as it is: until then the conditions are about an older one. */
  readonly isObserved: boolean;
  readonly strategy: string;
  readonly className: string;
  readonly desired: number;
  readonly ready: number;
  readonly available: number;
  readonly updated: number;
  readonly conditions: readonly ReportedCondition[];
  /** The newest revision first. */
  readonly sets: readonly SetReport[];
  /** Machines whose last operation failed, with its message. */
  readonly failed: readonly FailedMachine[];
  /** What else is to be known, a sentence each. */
  readonly notes: readonly string[];
}

/** What is read of a deployment. */
interface Sources {
  readonly deployment: MachineDeployment;
  readonly allSets: readonly MachineSet[];
  readonly allMachines: readonly Machine[];
}

async function readAll(options: NamedObject): Promise<Sources> {
  const { control, namespace, signal } = options;
  const asked = { namespace, ...(signal === undefined ? {} : { signal }) };
  try {
    const deployment = await readNamed(options, machineDeploymentResource, readMachineDeployment);
    const [sets, machines] = await Promise.all([
      control.list<MachineSet>(machineSetResource, asked),
      control.list<Machine>(machineResource, asked),
    ]);
    return { deployment, allSets: sets.items, allMachines: machines.items };
  } catch (error) {
    throw explainFailure(error, "a description needs to get machinedeployments, and to list machinesets and machines");
  }
}

/**
 * Reads a deployment, its sets and their machines, and reports their progress. What it waits for is in the conditions, which the controllers write.
 *
 * @throws ConfigError when there is no such deployment, none that can be read, or something may not be read, and when the API server is unreachable
 */
export async function describeDeployment(options: NamedObject): Promise<DeploymentReport> {
  const { namespace } = options;
  const { deployment, allSets, allMachines } = await readAll(options);
  const { metadata, spec, status = {} } = deployment;
  const sets = allSets
    .filter((set) => isOwnedBy(set, deployment))
    .map((set): SetReport => ({
      name: set.metadata.name,
      revision: revisionOf(set),
      isCurrent: revisionOf(set) !== "" && revisionOf(set) === revisionOf(deployment),
      className: set.spec?.template?.spec?.class?.name ?? "",
      desired: set.spec?.replicas ?? 0,
      phases: countPhases(allMachines.filter((machine) => isOwnedBy(machine, set))),
    }));
  return {
    name: metadata.name,
    namespace,
    isObserved: (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    strategy: spec.strategy?.type ?? "RollingUpdate",
    className: spec.template.spec.class?.name ?? "",
    desired: spec.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    updated: status.updatedReplicas ?? 0,
    conditions: reportedConditions(status.conditions),
    sets: sets.toSorted((a, b) => Number(b.revision) - Number(a.revision) || (a.name < b.name ? -1 : 1)),
    failed: failedMachines(status.failedMachines),
    notes: unknownAnnotations("MachineDeployment", metadata),
  };
}
