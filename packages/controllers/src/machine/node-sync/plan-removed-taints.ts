import { type Machine, machineEventReasons, type Taint } from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import type { Node } from "../../model/node-objects.ts";
import { taintText } from "../../model/node-taints.ts";
import type { RestoredTaint, RestoredTaints } from "../state/restored-taints.ts";
import { taintId } from "./merge-taints.ts";

/** The delay before a taint is put back for the second time, milliseconds. It doubles each time. */
const FIRST_DELAY_MS = 10_000;

/** The longest delay, milliseconds. */
const MAX_DELAY_MS = 600_000;

/** What is done about taints of a template that another client removed from the node, or changed. */
export interface RemovedTaintsPlan {
  /** To be put back now. */
  readonly restored: readonly Taint[];
  /** To be put back later. */
  readonly deferred: readonly Taint[];
  /** Milliseconds until the next of these is put back. */
  readonly requeueAfterMs?: number;
  readonly because: readonly Reason[];
}

const delayLeftMs = ({ times, agoMs }: RestoredTaint): number =>
  Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (times - 1)) - agoMs;

/** Puts removed taints back: at once for the first time, then with a delay that grows, and with an event when it happens again. */
export function planRemovedTaints(
  removed: readonly Taint[],
  restoredBefore: RestoredTaints,
  { metadata }: Machine,
  node: Node,
): RemovedTaintsPlan {
  const leftMs = (taint: Taint): number => {
    const before = restoredBefore.get(taintId(taint));
    return before === undefined ? 0 : delayLeftMs(before);
  };
  const deferred = removed.filter((taint) => leftMs(taint) > 0);
  const restored = removed.filter((taint) => !deferred.includes(taint));
  const because = restored.flatMap((taint): Reason[] => {
    const { times, manager } = restoredBefore.get(taintId(taint)) ?? {};
    if (times !== 1) return [];
    const by = manager === undefined ? "Another client" : `Field manager ${manager}`;
    const message = `${by} removes or changes taint ${taintText(taint)} of Node ${node.metadata.name} again and again. The template of machine ${metadata.name} has it, so it is put back after a delay that grows to 10m. Remove it from the template, or stop the other client`;
    return [{ type: "Warning", reason: machineEventReasons.taintRemoved, message }];
  });
  return {
    restored,
    deferred,
    because,
    ...(deferred.length === 0 ? {} : { requeueAfterMs: Math.min(...deferred.map(leftMs)) }),
  };
}
