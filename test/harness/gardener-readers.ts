import { annotationKeys, type Machine, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import type { KubeObject } from "@millwright/kube";

/** What Gardener reads of a Node. */
export interface ReadNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** All that Gardener's readers of one shoot list. */
export interface ReadShoot {
  readonly deployments: readonly MachineDeployment[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  readonly nodes: readonly ReadNode[];
}

/** Why a deployment is unhealthy; `undefined` if it is healthy (gardener/gardener, pkg/utils/kubernetes/health/machinedeployment.go CheckMachineDeployment). */
export function deploymentFault({ metadata, status }: MachineDeployment): string | undefined {
  const { generation = 0 } = metadata;
  const { observedGeneration = 0, conditions = [] } = status ?? {};
  if (observedGeneration < generation) return `observed generation outdated (${observedGeneration}/${generation})`;
  const expected = [
    { type: "Available", state: "True", isRequired: true },
    { type: "Progressing", state: "True", isRequired: false },
    { type: "ReplicaFailure", state: "False", isRequired: false },
    { type: "Frozen", state: "False", isRequired: false },
  ];
  for (const { type, state, isRequired } of expected) {
    // The first of a type counts.
    const found = conditions.find((condition) => condition.type === type);
    if (found === undefined && isRequired) return `condition ${type} is missing`;
    if (found !== undefined && found.status !== state) return `${found.message ?? ""} (${found.reason ?? ""})`;
  }
  return undefined;
}

/** The first Failed machine that the deployments report (gardener/gardener, extensions/pkg/controller/healthcheck/worker/helpers.go). */
export const failedMachine = ({ deployments }: ReadShoot): string | undefined =>
  deployments
    .flatMap(({ status }) => status?.failedMachines ?? [])
    .map(({ name = "", lastOperation }) => `machine ${name} failed: ${lastOperation?.description ?? ""}`)[0];

const sum = (numbers: readonly (number | undefined)[]): number =>
  numbers.reduce<number>((all, each = 0) => all + each, 0);

/**
 * What the worker controller waits for; `undefined` when it has nothing to wait for (gardener/gardener, extensions/pkg/controller/worker/genericactuator/actuator_reconcile.go
 * waitUntilWantedMachineDeploymentsAvailable).
 *
 * @param className class that Gardener has written into the templates
 * @param isRollingUpdate whether the class is new in this reconciliation, and the deployments are not
 */
export function workerWaitsFor(
  { deployments, sets }: ReadShoot,
  className: string,
  { isRollingUpdate = false } = {},
): string | undefined {
  for (const deployment of deployments) {
    // The owner is found by the name in the first reference.
    const owned = sets.filter((set) => set.metadata.ownerReferences?.[0]?.name === deployment.metadata.name);
    if (isRollingUpdate && owned.length < 2) return "the machine sets";
    if (!owned.some(({ spec }) => spec.template.spec.class?.name === className)) return "the updated machine set";
    const fault = deploymentFault(deployment);
    if (fault !== undefined) return fault;
  }
  const unavailable = sum(deployments.map(({ status }) => status?.unavailableReplicas));
  if (unavailable !== 0) return `${unavailable} unavailable machines`;
  const updated = sum(deployments.map(({ status }) => status?.updatedReplicas));
  const all = sum(deployments.map(({ status }) => status?.replicas));
  return updated === all ? undefined : `${all - updated} old machines`;
}

const isManaged = ({ metadata }: ReadNode): boolean => metadata.annotations?.[annotationKeys.notManaged] !== "1";

const isServing = ({ spec, status }: ReadNode): boolean =>
  spec?.unschedulable !== true &&
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

/** Why more nodes are expected (checkNodesScalingUp). */
function missingNodes(machines: readonly Machine[], ready: number, desired: number): string | undefined {
  if (ready >= desired) return undefined;
  if (machines.length < desired) return `not enough machine objects (${machines.length}/${desired})`;
  const phases = machines
    .filter(({ status }) => status?.currentStatus?.preserveExpiryTime === undefined)
    .map(({ status }) => status?.currentStatus?.phase ?? "");
  const erroneous = phases.filter((phase) => !["Running", "Available", "Pending", ""].includes(phase)).length;
  if (erroneous > 0) return `${erroneous} erroneous`;
  const pending = phases.filter((phase) => phase === "Pending" || phase === "").length;
  return pending === 0 ? `not enough ready nodes (${ready}/${desired})` : `${pending} provisioning`;
}

/** Why fewer nodes are expected (checkNodesScalingDown): every cordoned Node has a Machine that is being deleted. */
function surplusNodes(machines: readonly Machine[], nodes: readonly ReadNode[], desired: number): string | undefined {
  const cordoned = nodes.filter(({ spec }) => spec?.unschedulable === true);
  const byNode = new Map(machines.map((machine) => [machine.metadata.labels?.["node"] ?? "", machine]));
  for (const { metadata } of cordoned) {
    const machine = byNode.get(metadata.name ?? "");
    if (machine === undefined) return `no machine of the cordoned node ${metadata.name ?? ""}`;
    if (machine.metadata.deletionTimestamp === undefined)
      return `cordoned, but not being deleted: ${metadata.name ?? ""}`;
  }
  if (nodes.length - cordoned.length > desired) return `too many nodes (${nodes.length}/${desired})`;
  return cordoned.length === 0 ? undefined : `${cordoned.length} draining`;
}

/** What the care controller reports of scaling and rollouts; `undefined` for nothing (gardener/gardener, pkg/gardenlet/controller/shoot/care/health.go CheckNodesScaling). */
export function scalingInProgress({ deployments, machines, nodes }: ReadShoot): string | undefined {
  const managed = nodes.filter(isManaged);
  const ready = managed.filter(isServing).length;
  const desired = sum(
    deployments.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ spec }) => spec.replicas),
  );
  if (managed.length === desired && ready === desired) return undefined;
  const up = missingNodes(machines, ready, desired);
  if (up !== undefined) return `NodesScalingUp: ${up}`;
  const down = managed.length > desired ? surplusNodes(machines, managed, desired) : undefined;
  return down === undefined ? undefined : `NodesScalingDown: ${down}`;
}
