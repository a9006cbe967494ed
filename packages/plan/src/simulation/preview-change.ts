import {
  boundsOf,
  countMachines,
  deploymentProblems,
  hasFreezeLabel,
  isAvailable,
  isDeleting,
  type MachineDeploymentSnapshot,
  viewSets,
} from "@millwright/controllers/decisions";
import {
  type FieldProblem,
  labelKeys,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  phaseOf,
  validateMachineSet,
} from "@millwright/core";
import { controllerRefOf } from "@millwright/kube";
import { settledAt, type LimitsAt, isStable } from "./came-to-stand.ts";
import { type Durations, type GivenDurations, pastDurations } from "./durations.ts";
import { createModelCluster, type ModelCluster, type PreviewObjects } from "./model-cluster.ts";
import { minOf, sum } from "./numbers.ts";
import { observeInModel } from "./model-passes.ts";
import { type Play, simulate } from "./simulate.ts";
import type { PreviewCounts, PreviewStep } from "./preview-step.ts";

/** What becomes of a deployment, or of a set that nobody controls, if all goes well. */
export interface ChangePreview {
  readonly kind: "MachineDeployment" | "MachineSet";
  readonly name: string;
  /**
   * `nothing`: all is as it is to be. `completes`: in the steps given. `waits`: not without somebody, see `waitsFor`. `unknown`: it goes on after the steps given,
   * see `waitsFor`. `refused`: see `problems`.
   */
  readonly outcome: "nothing" | "completes" | "waits" | "unknown" | "refused";
  readonly steps: readonly PreviewStep[];
  /** Clauses, for people. */
  readonly waitsFor: readonly string[];
  readonly problems: readonly FieldProblem[];
  /** Most machines beyond the replicas at once, and how many the strategy allows. */
  readonly surge: { readonly used: number; readonly allowed: number };
  /** Fewest machines that serve at any time. */
  readonly fewestServing: number;
  readonly durations: Durations;
  /** Milliseconds from the change to the end of the last step, as far as durations are known. */
  readonly expectedMs: number;
}

/** Whose future is asked for. */
export interface PreviewRoot {
  readonly kind: ChangePreview["kind"];
  readonly name: string;
}

/** From when, and with what, a preview is made. */
export interface PreviewOptions {
  /** When the change would be made. */
  readonly now: Date;
  /** Default: the cluster-autoscaler is kept from nodes during a rollout. */
  readonly disablesScaleDown?: boolean;
  /** What somebody knows better than the past. */
  readonly durations?: GivenDurations;
}

const controllerUid = (object: Machine | MachineSet): string | undefined => controllerRefOf(object)?.uid;

/** The part of the objects that a root concerns: its own, and what nobody has, which it may adopt. */
function concerning(
  { deployments, sets, machines, nodes }: PreviewObjects,
  { kind, name }: PreviewRoot,
): PreviewObjects {
  const root = kind === "MachineDeployment" ? deployments.find(({ metadata }) => metadata.name === name) : undefined;
  const isIts = (set: MachineSet): boolean =>
    kind === "MachineSet"
      ? set.metadata.name === name
      : controllerUid(set) === undefined || controllerUid(set) === root?.metadata.uid;
  const own = sets.filter(isIts);
  const uids = new Set([undefined, ...own.map(({ metadata }) => metadata.uid)]);
  const theirs = machines.filter((machine) => uids.has(controllerUid(machine)));
  const names = new Set(theirs.map(({ metadata }) => metadata.labels?.[labelKeys.node]));
  return {
    deployments: root === undefined ? [] : [root],
    sets: own,
    machines: theirs,
    ...(nodes === undefined ? {} : { nodes: nodes.filter(({ metadata }) => names.has(metadata.name)) }),
  };
}

/** Counts what the root has; what nobody has is not its own yet. */
function countAll(
  cluster: ModelCluster,
  { kind, name }: PreviewRoot,
  view: (of: MachineDeployment) => MachineDeploymentSnapshot,
): PreviewCounts {
  const deployment = cluster.deployments.get(name);
  const { newSet, oldSets } =
    kind === "MachineSet" || deployment === undefined ? { newSet: undefined, oldSets: [] } : viewSets(view(deployment));
  const set = kind === "MachineSet" ? cluster.sets.get(name) : undefined;
  const current = set === undefined ? (newSet?.machines ?? []) : cluster.machinesOf(set.metadata.uid ?? "");
  const old = oldSets.map(({ machines }) => machines);
  const lists = [current, ...old];
  const total = (of: readonly (readonly Machine[])[], what: "present" | "available"): number =>
    sum(of.map((machines) => countMachines(machines)[what]));
  return {
    current: total([current], "present"),
    old: total(old, "present"),
    leaving: sum(lists.map(({ length }) => length)) - total(lists, "present"),
    serving: total(lists, "available"),
  };
}

/** What stands between the end of the play and the end of the rollout, seen from when it came to a stand: people, times, and machines that are broken. */
function waitsOf(
  cluster: ModelCluster,
  { deployment, limits }: MachineDeploymentSnapshot,
  { current, old, serving }: PreviewCounts,
): readonly string[] {
  const replicas = deployment.metadata.deletionTimestamp == null ? (deployment.spec.replicas ?? 0) : 0;
  if (old === 0 && current === replicas && serving === replicas) return [];
  const broken = [...cluster.machines.values()].filter((machine) => !isAvailable(machine) && !isDeleting(machine));
  const reasons = [
    ...(limits?.holds ?? []),
    ...(deployment.spec.paused === true ? ["Rollout is paused"] : []),
    ...(hasFreezeLabel(deployment) ? ["MachineDeployment is frozen"] : []),
    ...broken.map(
      (machine) => `Machine ${machine.metadata.name} is ${phaseOf(machine) ?? "new"}, and taken to stay so`,
    ),
  ];
  return reasons.length > 0 ? reasons : ["It comes to rest before its end"];
}

const outcomeOf = ({ steps }: Play, waitsFor: readonly string[]): ChangePreview["outcome"] =>
  waitsFor.length > 0 ? "waits" : steps.length > 0 ? "completes" : "nothing";

/**
 * Plays through what the controllers make of a deployment, or of a set that nobody controls, as it stands in `objects`: their own decide functions are asked again and
 * again, in a world where all goes well. Machines join, drains end, agents update; machines that are broken stay so.
 */
export function previewChange(
  objects: PreviewObjects,
  root: PreviewRoot,
  { now, disablesScaleDown = true, durations: given = {} }: PreviewOptions,
): ChangePreview {
  const part = concerning(objects, root);
  const cluster = createModelCluster(part);
  // Of a machine that is gone nobody knows whose it was.
  const { events = [] } = objects;
  const own = pastDurations({ machines: part.machines, events }, given);
  // What its own machines do not tell those beside them do.
  const durations = own.joinMs === undefined ? pastDurations({ machines: objects.machines, events }, given) : own;
  const known = new Set(objects.nodes?.map(({ metadata }) => metadata.name));
  const see = (each: MachineDeployment, at: Date): MachineDeploymentSnapshot =>
    observeInModel(cluster, each, disablesScaleDown, at);
  const limitsAt: LimitsAt = (each, at) => see(each, at).limits;
  const count = (at: Date): PreviewCounts => countAll(cluster, root, (each) => see(each, at));
  const [deployment] = part.deployments;
  const [set] = root.kind === "MachineSet" ? part.sets : [];
  const replicas = deployment?.spec.replicas ?? set?.spec.replicas ?? 0;
  const problems =
    deployment === undefined
      ? set === undefined
        ? []
        : validateMachineSet(set)
      : deploymentProblems(deployment, cluster.hasTarget);

  const play = simulate(cluster, {
    start: now,
    durations,
    disablesScaleDown,
    isRealNode: (name) => known.has(name),
    countNow: () => count(now),
    isStable: (at) => {
      const present = cluster.deployments.get(root.name);
      return present !== undefined && isStable(present, limitsAt, at);
    },
  });
  const last = count(play.end);
  const left = cluster.deployments.get(root.name);
  const lastAt = new Date(now.getTime() + play.lastMs);
  const stoodFrom = (each: MachineDeployment): Date => settledAt(each, limitsAt, lastAt, play.end);
  const waitsFor = left === undefined || problems.length > 0 ? [] : waitsOf(cluster, see(left, stoodFrom(left)), last);
  const { cutShort } = play;
  const isRefused = problems.length > 0 && deployment?.metadata.deletionTimestamp == null;
  const surges = play.steps
    .filter(({ machinesCreated }) => machinesCreated.length > 0)
    .map(({ after }) => after.current + after.old + after.leaving - replicas);
  return {
    ...root,
    outcome: isRefused ? "refused" : cutShort === undefined ? outcomeOf(play, waitsFor) : "unknown",
    steps: play.steps,
    // Nobody knows yet what it would wait for in the end.
    waitsFor: cutShort === undefined ? waitsFor : [cutShort],
    problems,
    surge: {
      used: surges.reduce((most, each) => Math.max(most, each), 0),
      allowed: deployment === undefined || problems.length > 0 ? 0 : boundsOf(deployment).maxSurge,
    },
    fewestServing: minOf(play.counts.map(({ serving }) => serving)),
    durations,
    expectedMs: play.lastMs,
  };
}
