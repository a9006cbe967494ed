import type { Clock } from "@millwright/base";
import { machineDeploymentResource } from "@millwright/core/machine-api";
import type { ApiClient } from "@millwright/kube";
import { type ClusterObjects, findNamed } from "../explain/cluster-objects.ts";
import { explainDeployment } from "../explain/explain-group.ts";
import type { Explanation } from "../explain/explanation.ts";
import {
  countPhases,
  type FailedMachine,
  failedMachines,
  isOwnedBy,
  revisionOf,
  reportedConditions,
  type ReportedCondition,
} from "./group-report.ts";
import { readClusterObjects } from "./read-cluster-objects.ts";
import type { NamedObject } from "./read-named.ts";
import { unknownAnnotations } from "../explain/annotation-notes.ts";

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
  /** Its sets, their machines and nodes, and what the controllers recorded about each. */
  readonly tree: Explanation;
  /** What else is to be known, a sentence each. */
  readonly notes: readonly string[];
}

/** Which deployment is described, and where its objects are read. */
export interface DescribeDeploymentOptions extends NamedObject {
  /** The cluster that machines join; absent where there is none. */
  readonly target?: Pick<ApiClient, "get" | "list"> | undefined;
  readonly clock: Clock;
}

/**
 * Reports the progress of a deployment, with its sets, machines and nodes as a tree. What it waits for is in the conditions, which the controllers write.
 *
 * @throws ConfigError when there is no such deployment
 */
export async function deploymentReport(name: string, objects: ClusterObjects, now: Date): Promise<DeploymentReport> {
  const { namespace, sets: allSets, machines: allMachines, notes } = objects;
  const deployment = findNamed(objects.deployments, machineDeploymentResource, name, objects);
  const { metadata, spec, status = {} } = deployment;
  const sets = allSets
    .filter((set) => isOwnedBy(set, deployment))
    .map((set): SetReport => ({
      name: set.metadata.name,
      revision: revisionOf(set),
      isCurrent: revisionOf(set) !== "" && revisionOf(set) === revisionOf(deployment),
      className: set.spec.template.spec?.class?.name ?? "",
      desired: set.spec.replicas ?? 0,
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
    tree: await explainDeployment(deployment, objects, now),
    notes: [...unknownAnnotations("MachineDeployment", metadata), ...notes],
  };
}

/**
 * Reads a deployment, its sets, their machines and nodes, and reports as {@link deploymentReport}.
 *
 * @throws ConfigError when there is no such deployment, none that can be read, or something may not be read, and when the API server is unreachable
 */
export async function describeDeployment(options: DescribeDeploymentOptions): Promise<DeploymentReport> {
  const { control, clock, name } = options;
  const objects = await readClusterObjects(options);
  return deploymentReport(name, objects, (control.serverTime ?? clock).now());
}
