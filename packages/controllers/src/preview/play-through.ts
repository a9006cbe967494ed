import { annotationKeys, labelKeys, type MachineDeployment } from "@millwright/core";
import type { Node } from "../cluster/node-objects.ts";
import { isDeleting } from "../machine/phase.ts";
import { decideMachineDeployment } from "../machine-deployment/decide.ts";
import { observeMachineDeployment } from "../machine-deployment/observe.ts";
import type { MachineDeploymentSnapshot } from "../machine-deployment/snapshot.ts";
import { decideMachineSet } from "../machine-set/decide.ts";
import { machineSetSnapshot } from "../machine-set/observe.ts";
import { carryOutForDeployment, carryOutForSet, noNotes, type Notes } from "./carry-out-in-model.ts";
import type { Durations } from "./durations.ts";
import { isComing, type ModelCluster } from "./model-cluster.ts";
import { isEventful, type MachineCounts, type PreviewStep } from "./preview-step.ts";

/** What a play needs to know besides the model. */
export interface PlayOptions {
  readonly start: Date;
  readonly durations: Durations;
  readonly guardsFromScaler: boolean;
  /** Whether a node is there before anything happens. */
  readonly isRealNode: (name: string) => boolean;
  readonly countNow: () => MachineCounts;
}

/** How a play went. */
export interface Play {
  readonly steps: readonly PreviewStep[];
  /** Machines after each moment, those in which nothing was done as well. */
  readonly counts: readonly MachineCounts[];
  readonly end: Date;
  /** From the start until nothing moved any more. */
  readonly lastMs: number;
  /** Whether it was broken off: nothing that comes to rest goes on for so long. */
  readonly isEndless: boolean;
}

/** Passes of the controllers at one moment, moments, and the time that is looked ahead. */
const MOST_PASSES = 100;
const MOST_MOMENTS = 20_000;
const HORIZON_MS = 366 * 24 * 3_600_000;

/** Something that the world does by itself. */
interface Ending {
  readonly atMs: number;
  readonly happen: (now: Date) => void;
}

/** Whether the node was selected for an update in place that is not done yet. */
const isToBeUpdated = (node: Node | undefined): boolean =>
  node?.metadata.labels?.[labelKeys.selectedForUpdate] !== undefined &&
  node.metadata.annotations?.[annotationKeys.inPlaceUpdate] !== undefined &&
  node.metadata.labels[labelKeys.updateResult] === undefined;

/** What a pass over a deployment of the model sees. */
export function observeInModel(
  cluster: ModelCluster,
  deployment: MachineDeployment,
  guardsFromScaler: boolean,
  now: Date,
): MachineDeploymentSnapshot {
  const sources = {
    sets: [...cluster.sets.values()],
    machinesOf: cluster.machinesOf,
    ...(cluster.hasTarget ? { nodesOf: cluster.nodesOf } : {}),
    guardsFromScaler,
  };
  return observeMachineDeployment(deployment, sources, now);
}

/** One pass of every controller; whether any did something. */
function pass(cluster: ModelCluster, { guardsFromScaler, isRealNode }: PlayOptions, notes: Notes, now: Date): boolean {
  let isBusy = false;
  for (const deployment of cluster.deployments.values()) {
    const { name } = deployment.metadata;
    const snapshot = observeInModel(cluster, deployment, guardsFromScaler, now);
    const { actions, status, because } = decideMachineDeployment(snapshot, now);
    for (const action of actions) carryOutForDeployment(cluster, deployment, action, { notes, now, isRealNode });
    if (status !== undefined) cluster.patchDeployment(name, { status });
    notes.says.push(...because.map(({ message }) => message));
    isBusy ||= actions.length > 0;
  }
  for (const set of cluster.sets.values()) {
    const snapshot = machineSetSnapshot(set, {
      machines: [...cluster.machines.values()],
      controlled: cluster.machinesOf(set.metadata.uid ?? "").length,
      deployment: (each) => cluster.deployments.get(each),
      nodesOf: cluster.nodesOf,
    });
    const { actions, status, because } = decideMachineSet(snapshot, now);
    for (const action of actions) carryOutForSet(cluster, set, action, { notes, now, isRealNode });
    if (status !== undefined) cluster.patchSet(set.metadata.name, { status });
    notes.says.push(...because.map(({ message }) => message));
    isBusy ||= actions.length > 0;
  }
  return isBusy;
}

/** Notes how everything that is on its way ends by itself, unless that is noted already. */
function expectEndings(
  cluster: ModelCluster,
  { durations }: PlayOptions,
  endings: Map<string, Ending>,
  notes: Notes,
  nowMs: number,
): void {
  /** What began before takes only what is left of its time. */
  const add = (key: string, since: string | undefined, ms: number | undefined, happen: Ending["happen"]): boolean => {
    if (endings.has(key)) return false;
    const sinceMs = since === undefined ? nowMs : Date.parse(since) || nowMs;
    endings.set(key, { atMs: Math.max(nowMs, sinceMs + (ms ?? 0)), happen });
    return true;
  };
  const machines = [...cluster.machines.values()];
  const nodes = cluster.nodesOf(machines);
  for (const machine of machines) {
    const { name, creationTimestamp, deletionTimestamp } = machine.metadata;
    if (isDeleting(machine)) add(`leave ${name}`, deletionTimestamp, durations.leaveMs, () => cluster.leave(name));
    else if (isComing(machine))
      add(`join ${name}`, creationTimestamp, durations.joinMs, (now) => cluster.join(name, now));
    else if (isToBeUpdated(nodes.get(name))) {
      if (add(`update ${name}`, undefined, durations.leaveMs, (now) => cluster.update(name, now)))
        notes.machinesUpdated.push(name);
    }
  }
}

/**
 * Lets the controllers' own decide functions move the model until nothing moves any more. Time jumps from one ending to the next: a machine joins, a drain and its
 * VM end, an agent is done, a window opens.
 */
export function playThrough(cluster: ModelCluster, options: PlayOptions): Play {
  const { start, guardsFromScaler, countNow } = options;
  const steps: PreviewStep[] = [];
  const counts: MachineCounts[] = [countNow()];
  const endings = new Map<string, Ending>();
  let nowMs = start.getTime();
  let lastMs = nowMs;
  let isEndless = true;
  for (let moment = 0; isEndless && moment < MOST_MOMENTS; moment++) {
    const now = new Date(nowMs);
    const notes = noNotes();
    let isBusy = true;
    for (let round = 0; isBusy && round < MOST_PASSES; round++) isBusy = pass(cluster, options, notes, now);
    expectEndings(cluster, options, endings, notes, nowMs);
    const after = countNow();
    counts.push(after);
    const step = { afterMs: nowMs - start.getTime(), ...notes, after };
    if (isEventful(step)) {
      steps.push(step);
      lastMs = nowMs;
    }
    const wakes = [...cluster.deployments.values()].flatMap((deployment) => {
      const wakeMs = observeInModel(cluster, deployment, guardsFromScaler, now).limits?.wakeAt?.getTime();
      return wakeMs === undefined || wakeMs <= nowMs ? [] : [wakeMs];
    });
    const next = Math.min(...[...endings.values()].map(({ atMs }) => atMs), ...wakes);
    isEndless = next <= start.getTime() + HORIZON_MS;
    if (!isEndless) break;
    nowMs = next;
    for (const [key, { atMs, happen }] of endings) {
      if (atMs > nowMs) continue;
      endings.delete(key);
      happen(new Date(nowMs));
      lastMs = nowMs;
    }
  }
  return { steps, counts, end: new Date(nowMs), lastMs: lastMs - start.getTime(), isEndless };
}
