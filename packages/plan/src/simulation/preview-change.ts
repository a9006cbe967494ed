import {
  boundsOf,
  countWhere,
  DEFAULT_SHARE,
  deploymentProblems,
  hasFreezeLabel,
  isAvailable,
  isApprovedBy,
  isDeleting,
  isInService,
  isPresent,
  isProtected,
  type MachineDeploymentSnapshot,
  type MachineList,
  type MachinePredicate,
  protectedMachinesHold,
} from "@millwright/controllers/decisions";
import {
  deletionsHeldConditionType,
  type FieldProblem,
  labelKeys,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  phaseOf,
  validateMachineSet,
} from "@millwright/core/machine-api";
import { controllerRefOf, findCondition } from "@millwright/kube";
import { settledAt, type GatesAt, isStable } from "./stable-rollout.ts";
import { type Durations, type GivenDurations, pastDurations } from "./durations.ts";
import { createModelBudget, isToBeDeleted, type ScopeCounts } from "./model-budget.ts";
import { createModelCluster, type ModelCluster, type PreviewObjects } from "./model-cluster.ts";
import { minOf, sum } from "./numbers.ts";
import { observeInModel } from "./model-controllers.ts";
import { type Simulation, simulate } from "./simulate.ts";
import type { PreviewCounts, PreviewStep } from "./preview-step.ts";

/** The result of a change for a deployment, or a set without controller, in the best case. */
export interface ChangePreview {
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly name: string;
  /**
   * `nothing`: no step is needed. `completes`: with these steps. `waits`: a user must act, see `waitsFor`. `unknown`: it continues after these steps,
   * see `waitsFor`. `rejected`: see `problems`.
   */
  readonly outcome: "nothing" | "completes" | "waits" | "unknown" | "rejected";
  readonly steps: readonly PreviewStep[];
  /** Clauses, for people. */
  readonly waitsFor: readonly string[];
  readonly problems: readonly FieldProblem[];
  /** Maximum of machines beyond the replicas, and how many the strategy allows. */
  readonly surge: { readonly used: number; readonly allowed: number };
  /** Minimum of available machines at any time. */
  readonly minAvailable: number;
  readonly durations: Durations;
  /** Milliseconds from the change to the end of the last step, as far as durations are known. */
  readonly expectedMs: number;
}

/** The object that is simulated. */
export interface PreviewRoot {
  readonly kind: ChangePreview["kind"];
  readonly name: string;
}

/** Options of a preview. */
export interface PreviewOptions {
  /** When the change would be made. */
  readonly now: Date;
  /** Default: true, nodes are annotated against scale-down by the cluster-autoscaler during a rollout. */
  readonly disablesScaleDown?: boolean;
  /** Durations that the user gives instead of those of the past. */
  readonly durations?: GivenDurations;
  /** The share of machines that may be deleted within an hour without approval, 0 to 1; 0: all. Default: that of the controllers. */
  readonly maxDeletionShare?: number;
}

const controllerUid = (object: Machine | MachineSet): string | undefined => controllerRefOf(object)?.uid;

/** The objects that matter for a root: its own, and those without controller, which it may adopt. */
function objectsOf(
  { deployments, sets, machines, nodes, classes }: PreviewObjects,
  { kind, name }: PreviewRoot,
): PreviewObjects {
  const root = kind === "MachineDeployment" ? deployments.find(({ metadata }) => metadata.name === name) : undefined;
  const isOwnSet = (set: MachineSet): boolean =>
    kind === "MachineSet"
      ? set.metadata.name === name
      : controllerUid(set) === undefined || controllerUid(set) === root?.metadata.uid;
  const own = sets.filter(isOwnSet);
  const uids = new Set([undefined, ...own.map(({ metadata }) => metadata.uid)]);
  const theirs = machines.filter((machine) => uids.has(controllerUid(machine)));
  const names = new Set(theirs.map(({ metadata }) => metadata.labels?.[labelKeys.node]));
  return {
    deployments: root === undefined ? [] : [root],
    sets: own,
    machines: theirs,
    ...(classes === undefined ? {} : { classes }),
    ...(nodes === undefined ? {} : { nodes: nodes.filter(({ metadata }) => names.has(metadata.name)) }),
  };
}

/** The machines that a root leaves alone. */
function elsewhereOf({ deployments, sets, machines }: PreviewObjects, part: PreviewObjects, now: Date): ScopeCounts {
  const own = new Set(part.machines);
  const setsByUid = new Map(sets.map((set) => [set.metadata.uid, set]));
  const deploymentsByUid = new Map(deployments.map((deployment) => [deployment.metadata.uid, deployment]));
  const isRequested = (machine: Machine): boolean => {
    const set = setsByUid.get(controllerUid(machine));
    const deployment = set === undefined ? undefined : deploymentsByUid.get(controllerUid(set));
    const isLeaving = [set, deployment].some((owner) => owner?.metadata.deletionTimestamp !== undefined);
    return (isLeaving || isToBeDeleted(machine)) && !isApprovedBy([machine, set, deployment], now);
  };
  const serving = machines.filter((machine) => !own.has(machine) && isInService(machine));
  return { inService: serving.length, requested: serving.filter(isRequested).length };
}

/** Deletions that wait for an approval, from the sets. */
const heldDeletionsOf = ({ sets }: ModelCluster): readonly string[] => [
  ...new Set(
    [...sets.values()].flatMap(({ status }) => {
      const held = findCondition(status?.machineSetCondition, deletionsHeldConditionType);
      return held?.status === "True" ? (held.message ?? []) : [];
    }),
  ),
];

/** Counts the machines of the root, without those that it has not adopted yet. */
function countAll(
  cluster: ModelCluster,
  { kind, name }: PreviewRoot,
  view: (of: MachineDeployment) => MachineDeploymentSnapshot,
): PreviewCounts {
  const deployment = cluster.deployments.get(name);
  const { newSet, oldSets } =
    kind === "MachineSet" || deployment === undefined ? { newSet: undefined, oldSets: [] } : view(deployment).sets;
  const set = kind === "MachineSet" ? cluster.sets.get(name) : undefined;
  const current = set === undefined ? (newSet?.machines ?? []) : cluster.machinesOf(set.metadata.uid ?? "");
  const old = oldSets.map(({ machines }) => machines);
  const lists = [current, ...old];
  const total = (of: readonly MachineList[], predicate: MachinePredicate): number =>
    sum(of.map((machines) => countWhere(machines, predicate)));
  return {
    current: total([current], isPresent),
    old: total(old, isPresent),
    terminating: sum(lists.map(({ length }) => length)) - total(lists, isPresent),
    available: total(lists, isAvailable),
  };
}

/** What the rollout still waits for when it became stable: users, times, and unhealthy machines. */
function waitsOf(
  cluster: ModelCluster,
  { deployment, heldBy, limits }: MachineDeploymentSnapshot,
  { current, old, available }: PreviewCounts,
): readonly string[] {
  const held = heldDeletionsOf(cluster);
  const replicas = deployment.metadata.deletionTimestamp == null ? (deployment.spec.replicas ?? 0) : 0;
  if (old === 0 && current === replicas && available === replicas) return held;
  const machines = [...cluster.machines.values()];
  const broken = machines.filter((machine) => !isAvailable(machine) && !isDeleting(machine));
  const reasons = [
    ...held,
    ...(heldBy ?? []).map(({ message }) => message),
    ...(limits.holds ?? []),
    ...(deployment.spec.paused === true ? ["Rollout is paused"] : []),
    ...(hasFreezeLabel(deployment) ? ["MachineDeployment is frozen"] : []),
    ...broken.map(
      (machine) => `Machine ${machine.metadata.name} is ${phaseOf(machine) ?? "new"}, and is assumed to stay so`,
    ),
  ];
  if (reasons.length > 0) return reasons;
  return [protectedMachinesHold(machines.filter(isProtected))?.message ?? "The rollout stops before its end"];
}

const outcomeOf = ({ steps }: Simulation, waitsFor: readonly string[]): ChangePreview["outcome"] =>
  waitsFor.length > 0 ? "waits" : steps.length > 0 ? "completes" : "nothing";

/**
 * Simulates what the controllers do with a deployment, or a set without controller, of `objects`: it calls their own decide functions again and
 * again, in the best case. Machines join, drains end, agents update; unhealthy machines stay so.
 */
export function previewChange(
  objects: PreviewObjects,
  root: PreviewRoot,
  { now, disablesScaleDown = true, durations: given = {}, maxDeletionShare = DEFAULT_SHARE }: PreviewOptions,
): ChangePreview {
  const part = objectsOf(objects, root);
  const cluster = createModelCluster(part);
  // The owner of a deleted machine is unknown.
  const { events = [] } = objects;
  const own = pastDurations({ machines: part.machines, events }, given);
  // Without data of its own machines, those of others count.
  const durations = own.joinMs === undefined ? pastDurations({ machines: objects.machines, events }, given) : own;
  const known = new Set(objects.nodes?.map(({ metadata }) => metadata.name));
  const observe = (each: MachineDeployment, at: Date): MachineDeploymentSnapshot =>
    observeInModel(cluster, each, disablesScaleDown, at);
  const gatesAt: GatesAt = (each, at) => observe(each, at).limits;
  const count = (at: Date): PreviewCounts => countAll(cluster, root, (each) => observe(each, at));
  const [deployment] = part.deployments;
  const [set] = root.kind === "MachineSet" ? part.sets : [];
  const replicas = deployment?.spec.replicas ?? set?.spec.replicas ?? 0;
  const problems =
    deployment === undefined
      ? set === undefined
        ? []
        : validateMachineSet(set)
      : deploymentProblems(deployment, cluster.hasTarget);

  const simulation = simulate(cluster, {
    start: now,
    durations,
    disablesScaleDown,
    budget: createModelBudget(cluster, elsewhereOf(objects, part, now), maxDeletionShare),
    isRealNode: (name) => known.has(name),
    countNow: () => count(now),
    isStable: (at) => {
      const present = cluster.deployments.get(root.name);
      return present !== undefined && isStable(present, gatesAt, at);
    },
  });
  const last = count(simulation.end);
  const left = cluster.deployments.get(root.name);
  const lastAt = new Date(now.getTime() + simulation.lastMs);
  const stableSince = (each: MachineDeployment): Date => settledAt(each, gatesAt, lastAt, simulation.end);
  const waitsFor =
    problems.length > 0
      ? []
      : left === undefined
        ? heldDeletionsOf(cluster)
        : waitsOf(cluster, observe(left, stableSince(left)), last);
  const { cutShort } = simulation;
  const isRejected = problems.length > 0 && deployment?.metadata.deletionTimestamp == null;
  const surges = simulation.steps
    .filter(({ machinesCreated }) => machinesCreated.length > 0)
    .map(({ after }) => after.current + after.old + after.terminating - replicas);
  return {
    ...root,
    outcome: isRejected ? "rejected" : cutShort === undefined ? outcomeOf(simulation, waitsFor) : "unknown",
    steps: simulation.steps,
    // What it would wait for in the end is unknown.
    waitsFor: cutShort === undefined ? waitsFor : [cutShort],
    problems,
    surge: {
      used: surges.reduce((most, each) => Math.max(most, each), 0),
      allowed: deployment === undefined || problems.length > 0 ? 0 : boundsOf(deployment).maxSurge,
    },
    minAvailable: minOf(simulation.counts.map(({ available }) => available)),
    durations,
    expectedMs: simulation.lastMs,
  };
}
