import {
  labelKeys,
  type Machine,
  type NodeCondition,
  nodeConditionTypes,
  trueLabel,
} from "@millwright/core/machine-api";
import { conditionOf } from "../../model/node-condition.ts";
import type { DrainTerms } from "../../drain/drain-view.ts";
import type { Node } from "../../model/node-objects.ts";

/** Whether the label `force-drain` requests to force the drain of a machine that is not being deleted. */
export const isForceDrain = ({ metadata }: Machine): boolean => metadata.labels?.[labelKeys.forceDrain] === trueLabel;

/** Drains of a node that has been unusable for this long are forced, milliseconds. */
const UNUSABLE_MS = 5 * 60_000;

const sinceOf = (condition: NodeCondition | undefined, good: string): number => {
  const since =
    condition === undefined || condition.status === good ? Number.NaN : Date.parse(condition.lastTransitionTime ?? "");
  return Number.isNaN(since) ? Number.POSITIVE_INFINITY : since;
};

/**
 * Whether the kubelet of the node terminates no pods, as far as is known, while the VM may be running with all their containers: a node behind a network partition
 * looks like a dead one. A node that never reported its readiness runs no pods.
 */
export function isUnreachable(node: Node): boolean {
  const ready = conditionOf(node, nodeConditionTypes.ready);
  return ready !== undefined && ready.status !== "True";
}

/** Wall clock, milliseconds, after which the node has been not ready, or its disk read-only, for too long to terminate pods gracefully. */
export const unusableAfter = (node: Node): number =>
  UNUSABLE_MS +
  Math.min(
    sinceOf(conditionOf(node, nodeConditionTypes.ready), "True"),
    sinceOf(conditionOf(node, nodeConditionTypes.readonlyFilesystem), "False"),
  );

/**
 * Whether a drain is forced from its start, before its deadline: when a user requests it, or when the node has been unusable for too long. After the deadline `isForceDue` of
 * `drain/decide-drain.ts` applies.
 */
export const drainMode = (
  node: Node,
  { isDemanded, resumedUntil }: { readonly isDemanded: boolean; readonly resumedUntil: number },
  now: Date,
): DrainTerms["mode"] =>
  isDemanded || now.getTime() > Math.max(unusableAfter(node), resumedUntil) ? "force" : "normal";
