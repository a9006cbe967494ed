import { taintKeys } from "@millwright/core/machine-api";
import { type DrainTaint, toleratesTaint, unschedulableTaint } from "../model/cordon-toleration.ts";
import type { Node, Pod } from "../model/node-objects.ts";
import type { DrainTerms, DrainView } from "./drain-view.ts";

/** What a cordon depends on. */
export type CordonTerms = Pick<DrainTerms, "cordon" | "startedAt" | "clockAheadMs">;

/** Since when which taint keeps new pods off a drained node. */
export interface Cordon {
  readonly taint: DrainTaint;
  /** Wall clock, milliseconds, of the cluster that the node is in. */
  readonly since: number;
}

/**
 * The cordon of a drain; `undefined` before it is written. Its time is that of the taint which Kubernetes adds, and that may be a moment later. Without one, or when a user had cordoned
 * the node before, the drain counts from its start, by the clock of the node's cluster: each pod that was there then is evicted. The start of a preservation is the time of its taint.
 */
export function cordonOf({ spec }: Node, { cordon, startedAt, clockAheadMs = 0 }: CordonTerms): Cordon | undefined {
  const key = cordon ? unschedulableTaint : taintKeys.preserved;
  const taint = spec?.taints?.find((each) => each.key === key);
  if (taint === undefined && !(cordon && spec?.unschedulable === true)) return undefined;
  const added = Date.parse(taint?.timeAdded ?? "");
  const start = cordon ? startedAt + clockAheadMs : startedAt;
  return { taint: key, since: Number.isNaN(added) ? start : Math.max(added, start) };
}

/** The cordon of the node that a pod is on. */
export function cordonOfPod(
  { node, otherNodes = [] }: Pick<DrainView, "node" | "otherNodes">,
  { spec }: Pod,
  terms: CordonTerms,
): Cordon | undefined {
  return cordonOf(otherNodes.find(({ metadata }) => metadata.name === spec?.nodeName) ?? node, terms);
}

/** When a pod was created, wall clock in milliseconds. */
export const createdAt = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? "");

/** Whether the pod was certainly created after the cordon: times have no fractions. Both come from the control plane of the node's cluster. */
export const isCreatedAfter = (pod: Pod, cordon: Cordon | undefined): boolean =>
  cordon !== undefined && createdAt(pod) > cordon.since;

/**
 * Whether the pod was created after the cordon and tolerates it: once evicted it would be recreated on the node. One of the same second counts: controllers replace an evicted pod within
 * milliseconds.
 */
export const isReturned = (pod: Pod, cordon: Cordon | undefined): boolean =>
  cordon !== undefined && createdAt(pod) >= cordon.since && toleratesTaint(pod, cordon.taint);
