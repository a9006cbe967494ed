import {
  type Machine,
  machineResource,
  type MachineSet,
  machineSetResource,
  readMachineSet,
} from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
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
import { unknownAnnotations } from "../explain/annotation-notes.ts";

/** What is known of a set. */
export interface MachineSetReport {
  readonly name: string;
  readonly namespace: string;
  /** Name of the deployment that controls it; empty where none does. */
  readonly deployment: string;
  /** Whether the controllers have taken note of the spec as it is: until then the conditions are about an older one. */
  readonly isObserved: boolean;
  /** As the set carries it; empty where it carries none. */
  readonly revision: string;
  readonly className: string;
  readonly desired: number;
  readonly ready: number;
  readonly available: number;
  /** Number of machines by phase, in the order of the phases' names; without a phase yet: `being created`. */
  readonly phases: Readonly<Record<string, number>>;
  readonly conditions: readonly ReportedCondition[];
  /** Machines whose last operation failed, with its message. */
  readonly failed: readonly FailedMachine[];
  /** What else is to be known, a sentence each. */
  readonly notes: readonly string[];
}

async function readSources(
  options: NamedObject,
): Promise<{ readonly set: MachineSet; readonly machines: readonly Machine[] }> {
  const { control, namespace, signal } = options;
  try {
    const set = await readNamed(options, machineSetResource, readMachineSet);
    const asked = { namespace, ...(signal === undefined ? {} : { signal }) };
    const { items } = await control.list<Machine>(machineResource, asked);
    return { set, machines: items };
  } catch (error) {
    throw explainFailure(error, "a description needs to get machinesets, and to list machines");
  }
}

/** Reports the state of a set and its machines. */
export function setReport(set: MachineSet, machines: readonly Machine[], namespace: string): MachineSetReport {
  const { metadata, spec, status = {} } = set;
  const owner = controllerRefOf(set);
  return {
    name: metadata.name,
    namespace,
    deployment: owner?.kind === "MachineDeployment" ? owner.name : "",
    isObserved: (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    revision: revisionOf(set),
    className: spec.template.spec?.class?.name ?? "",
    desired: spec.replicas ?? 0,
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
    phases: countPhases(machines.filter((machine) => isOwnedBy(machine, set))),
    conditions: reportedConditions(status.machineSetCondition),
    failed: failedMachines(status.failedMachines),
    notes: unknownAnnotations("MachineSet", metadata),
  };
}

/**
 * Reads a set and its machines, and reports their state. `kubectl wait` does not find the conditions of a set, and `kubectl get` shows none of them.
 *
 * @throws ConfigError when there is no such set, none that can be read, or something may not be read, and when the API server is unreachable
 */
export async function describeSet(options: NamedObject): Promise<MachineSetReport> {
  const { set, machines } = await readSources(options);
  return setReport(set, machines, options.namespace);
}
