import type { ClusterFault } from "../cluster-faults/cluster-fault.ts";
import { isInFaultyHalf, isNamed, faultsOfKinds } from "../cluster-faults/cluster-faults.ts";
import type { MoreCondition, NodeState, Readiness } from "./node-object.ts";

/** Whether the kubelet of a node has stopped. */
export function isKubeletStopped(nodeName: string, faults: readonly ClusterFault[]): boolean {
  return faultsOfKinds(faults, "kubelet-stops").some(({ nodes }) => isNamed(nodes, nodeName));
}

/** Whether the kubelet of a machine may register its node. */
export function mayJoin(nodeName: string, faults: readonly ClusterFault[]): boolean {
  return !faultsOfKinds(faults, "never-joins").some(({ nodes }) => isNamed(nodes, nodeName));
}

/**
 * What a node reports with its faults applied. `own` is its readiness without them, `former` are the types of the conditions
 * that faults added before: such a condition becomes False when its fault is removed.
 */
export function stateOf(
  nodeName: string,
  own: Readiness,
  faults: readonly ClusterFault[],
  now: Date,
  former: readonly string[],
): NodeState {
  const isBad =
    faultsOfKinds(faults, "not-ready").some(({ nodes }) => isNamed(nodes, nodeName)) ||
    faultsOfKinds(faults, "node-flaps").some(
      ({ nodes, everyMs }) => isNamed(nodes, nodeName) && isInFaultyHalf(everyMs, now.getTime()),
    );
  const reported = faultsOfKinds(faults, "node-condition")
    .filter(({ nodes }) => isNamed(nodes, nodeName))
    .map(({ type, status, reason = type, message = `fault: ${type}` }): MoreCondition => ({
      type,
      status,
      reason,
      message,
    }));
  const recovered = former
    .filter((type) => !reported.some((condition) => condition.type === type))
    .map((type): MoreCondition => ({ type, status: "False", reason: `No${type}`, message: `No ${type}` }));
  return { ready: isBad ? "False" : own, conditions: [...reported, ...recovered] };
}
