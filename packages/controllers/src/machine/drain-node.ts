import { capitalTrue, labelKeys, type NodeCondition, nodeConditionTypes } from "@millwright/core";
import type { Node, Pod } from "../cluster/node-objects.ts";
import { decideDrain, type DrainProgress } from "../drain/decide-drain.ts";
import { conditionOf } from "./node-condition.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** A node that has been unusable for so long is not asked any more. */
const UNUSABLE_MS = 5 * 60_000;

const sinceOf = (condition: NodeCondition | undefined, good: string): number => {
  const since =
    condition === undefined || condition.status === good ? Number.NaN : Date.parse(condition.lastTransitionTime ?? "");
  return Number.isNaN(since) ? Number.POSITIVE_INFINITY : since;
};

/** Wall clock, milliseconds, after which nothing on a node can be expected to end in order: not ready, or its disk read-only, for too long. */
const unusableAfter = (node: Node): number =>
  UNUSABLE_MS +
  Math.min(
    sinceOf(conditionOf(node, nodeConditionTypes.ready), "True"),
    sinceOf(conditionOf(node, nodeConditionTypes.readonlyFilesystem), "False"),
  );

/** What a drain of a machine that is not deleted looks at. */
export interface NodeDrain {
  readonly node: Node;
  readonly pods: readonly Pod[];
  /** Wall clock, milliseconds: from then on it is forced. */
  readonly deadline: number;
  readonly cordon: boolean;
}

/**
 * Drains the node of a machine that stays, for an update in place or a preservation. Forced by the label `force-drain`, after the deadline, and
 * when the node itself, as the cache has it, is unusable (machine-controller.md, 5.4).
 */
export function drainNode(
  { machine }: MachineSnapshot,
  { node, pods, deadline, cordon }: NodeDrain,
  now: Date,
): DrainProgress {
  const isDemanded = machine.metadata.labels?.[labelKeys.forceDrain] === capitalTrue;
  const lostAfter = unusableAfter(node);
  const mode = isDemanded || now.getTime() > lostAfter ? "force" : "normal";
  const progress = decideDrain({ node, pods, deadline, mode, cordon }, now);
  return progress.state === "drained"
    ? progress
    : { ...progress, wakeAfterMs: Math.min(progress.wakeAfterMs, lostAfter - now.getTime() + 1) };
}
