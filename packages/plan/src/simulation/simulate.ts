import type { Node } from "@millwright/controllers";
import { isDeleting } from "@millwright/controllers/decisions";
import { annotationKeys, labelKeys } from "@millwright/core";
import { noNotes, type Notes } from "./carry-out-in-model.ts";
import type { Durations } from "./durations.ts";
import { HORIZON_MS, limitReached } from "./play-limits.ts";
import { minOf } from "./numbers.ts";
import { isComing, type ModelCluster } from "./model-cluster.ts";
import { createModelPasses, type PassOptions } from "./model-passes.ts";
import { isEventful, type PreviewCounts, type PreviewStep } from "./preview-step.ts";

/** What a play needs to know besides the model. */
export interface PlayOptions extends PassOptions {
  readonly start: Date;
  readonly durations: Durations;
  readonly countNow: () => PreviewCounts;
  /** Whether time alone moves nothing any more; asked when nothing has happened and nothing is on its way. */
  readonly isStable: (now: Date) => boolean;
}

/** How a play went. */
export interface Play {
  readonly steps: readonly PreviewStep[];
  /** Machines after each moment, those in which nothing was done as well. */
  readonly counts: readonly PreviewCounts[];
  readonly end: Date;
  /** From the start until nothing moved any more. */
  readonly lastMs: number;
  /** Why it was cut short, a sentence for people; absent when it came to rest. */
  readonly cutShort?: string;
  /** Decisions that it took. */
  readonly decisions: number;
}

/** Passes of the controllers at one moment. */
const MOST_PASSES = 100;

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
  const machines = cluster.takeChanged().flatMap((name) => cluster.machines.get(name) ?? []);
  for (const machine of machines) {
    const { name, creationTimestamp, deletionTimestamp } = machine.metadata;
    if (isDeleting(machine)) add(`leave ${name}`, deletionTimestamp, durations.leaveMs, () => cluster.leave(name));
    else if (isComing(machine))
      add(`join ${name}`, creationTimestamp, durations.joinMs, (now) => cluster.join(name, now));
    else if (isToBeUpdated(cluster.nodesByMachine.get(name))) {
      if (add(`update ${name}`, undefined, durations.leaveMs, (now) => cluster.update(name, now)))
        notes.machinesUpdated.push(name);
    }
  }
}

/**
 * Lets the controllers' own decide functions move the model until nothing moves any more. Time jumps from one ending to the next: a machine joins, a drain and its
 * VM end, an agent is done, a window opens.
 */
export function simulate(cluster: ModelCluster, options: PlayOptions): Play {
  const { start, countNow } = options;
  const passes = createModelPasses(cluster, options);
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
    for (let round = 0; isBusy && round < MOST_PASSES; round++) isBusy = passes.round(notes, now);
    expectEndings(cluster, options, endings, notes, nowMs);
    const after = countNow();
    counts.push(after);
    const step = { afterMs: nowMs - start.getTime(), ...notes, after };
    if (isEventful(step)) {
      steps.push(step);
      lastMs = nowMs;
    }
    const wakes = passes.wakes().map((at) => at.getTime());
    const next = minOf([...[...endings.values()].map(({ atMs }) => atMs), ...wakes.filter((atMs) => atMs > nowMs)]);
    // What only a distant window would set in motion again is at rest.
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
    decisions: passes.decisions(),
  };
}
