import type { Node } from "@millwright/controllers";
import { isDeleting } from "@millwright/controllers/decisions";
import { annotationKeys, labelKeys } from "@millwright/core/machine-api";
import { noNotes, type Notes } from "./carry-out-in-model.ts";
import type { Durations } from "./durations.ts";
import { HORIZON_MS, limitReached } from "./simulation-limits.ts";
import { minOf } from "./numbers.ts";
import { isProvisioning, type ModelCluster } from "./model-cluster.ts";
import { createModelControllers, type ModelOptions } from "./model-controllers.ts";
import { isEventful, type PreviewCounts, type PreviewStep } from "./preview-step.ts";

/** What a simulation needs besides the model. */
export interface SimulationOptions extends ModelOptions {
  readonly start: Date;
  readonly durations: Durations;
  readonly countNow: () => PreviewCounts;
  /** Whether time alone changes nothing any more; called when nothing has happened and nothing is pending. */
  readonly isStable: (now: Date) => boolean;
}

/** The result of a simulation. */
export interface Simulation {
  readonly steps: readonly PreviewStep[];
  /** Machines after each moment, also after those without a step. */
  readonly counts: readonly PreviewCounts[];
  readonly end: Date;
  /** From the start to the last change. */
  readonly lastMs: number;
  /** Why it was cut short, a sentence for people; absent when it settled. */
  readonly cutShort?: string;
  /** Number of decisions. */
  readonly decisions: number;
}

/** Maximum number of reconciles of each object at one moment. */
const MAX_ROUNDS = 100;

/** Something that happens without the controllers. */
interface Ending {
  readonly atMs: number;
  readonly happen: (now: Date) => void;
}

/** Whether the node was selected for an update in place that is not done yet. */
const isToBeUpdated = (node: Node | undefined): boolean =>
  node?.metadata.labels?.[labelKeys.selectedForUpdate] !== undefined &&
  node.metadata.annotations?.[annotationKeys.inPlaceUpdate] !== undefined &&
  node.metadata.labels[labelKeys.updateResult] === undefined;

/** Schedules the end of everything that is pending, unless it is scheduled already. */
function scheduleEndings(
  cluster: ModelCluster,
  { durations, budget }: SimulationOptions,
  endings: Map<string, Ending>,
  notes: Notes,
  now: Date,
): void {
  const nowMs = now.getTime();
  /** Something that began earlier takes only the rest of its duration. */
  const add = (key: string, since: string | undefined, ms: number | undefined, happen: Ending["happen"]): boolean => {
    if (endings.has(key)) return false;
    const sinceMs = since === undefined ? nowMs : Date.parse(since) || nowMs;
    endings.set(key, { atMs: Math.max(nowMs, sinceMs + (ms ?? 0)), happen });
    return true;
  };
  const machines = cluster.takeChanged().flatMap((name) => cluster.machines.get(name) ?? []);
  for (const machine of machines) {
    const { name, creationTimestamp, deletionTimestamp } = machine.metadata;
    if (isDeleting(machine)) {
      if (budget.holds(machine, now)) continue;
      add(`leave ${name}`, deletionTimestamp, durations.deletionMs, () => cluster.finishDeletion(name));
    } else if (isProvisioning(machine)) {
      add(`join ${name}`, creationTimestamp, durations.joinMs, (at) => {
        cluster.join(name, at);
        budget.arrive(machine, at);
      });
    } else if (isToBeUpdated(cluster.nodesByMachine.get(name))) {
      if (add(`update ${name}`, undefined, durations.deletionMs, (at) => cluster.finishUpdate(name, at)))
        notes.machinesUpdated.push(name);
    }
  }
}

/**
 * Runs the controllers' own decide functions over the model until nothing changes any more. Time jumps from one ending to the next: a machine joins, a drain and its
 * VM deletion end, an agent finishes, a window opens.
 */
export function simulate(cluster: ModelCluster, options: SimulationOptions): Simulation {
  const { start, countNow } = options;
  const controllers = createModelControllers(cluster, options);
  const steps: PreviewStep[] = [];
  const counts: PreviewCounts[] = [countNow()];
  const endings = new Map<string, Ending>();
  let nowMs = start.getTime();
  let lastMs = nowMs;
  let cutShort: string | undefined;
  for (let moments = 1; ; moments++) {
    const now = new Date(nowMs);
    const notes = noNotes();
    let isBusy = true;
    for (let round = 0; isBusy && round < MAX_ROUNDS; round++) isBusy = controllers.reconcileAll(notes, now);
    scheduleEndings(cluster, options, endings, notes, now);
    const after = countNow();
    counts.push(after);
    const step = { afterMs: nowMs - start.getTime(), ...notes, after };
    if (isEventful(step)) {
      steps.push(step);
      lastMs = nowMs;
    }
    const requeues = controllers.requeueTimes().map((at) => at.getTime());
    const next = minOf([...[...endings.values()].map(({ atMs }) => atMs), ...requeues.filter((atMs) => atMs > nowMs)]);
    // A rollout that only a distant window would continue is settled.
    if (next === Infinity || (endings.size === 0 && next > start.getTime() + HORIZON_MS)) break;
    if (endings.size === 0 && nowMs > lastMs && options.isStable(now)) break;
    cutShort = limitReached({ moments, machines: cluster.machines.size, aheadMs: next - start.getTime() });
    if (cutShort !== undefined) break;
    nowMs = next;
    for (const [key, { atMs, happen }] of endings) {
      if (atMs > nowMs) continue;
      endings.delete(key);
      happen(new Date(nowMs));
      lastMs = nowMs;
    }
  }
  return {
    steps,
    counts,
    end: new Date(nowMs),
    lastMs: lastMs - start.getTime(),
    ...(cutShort === undefined ? {} : { cutShort }),
    decisions: controllers.decisions(),
  };
}
