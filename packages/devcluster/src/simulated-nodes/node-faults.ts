import type { Trouble } from "../cluster-faults/cluster-fault.ts";
import { isInSecondHalf, isNamed, troublesOf } from "../cluster-faults/cluster-faults.ts";
import type { MoreCondition, NodeState, Readiness } from "./node-object.ts";

/** Whether the kubelet of a node has stopped. */
export function isSilenced(nodeName: string, troubles: readonly Trouble[]): boolean {
  return troublesOf(troubles, "kubelet-stops").some(({ nodes }) => isNamed(nodes, nodeName));
}

/** Whether the kubelet of a machine may register its node. */
export function mayJoin(nodeName: string, troubles: readonly Trouble[]): boolean {
  return !troublesOf(troubles, "never-joins").some(({ nodes }) => isNamed(nodes, nodeName));
}

/**
 * What a node reports under its troubles; `own` is how ready it is without them, `former` are the types of the conditions that it
 * reported of a trouble before: such a condition stays, and is False, when its trouble is gone.
 */
export function stateOf(
  nodeName: string,
  own: Readiness,
  troubles: readonly Trouble[],
  now: Date,
  former: readonly string[],
): NodeState {
  const isBad =
    troublesOf(troubles, "not-ready").some(({ nodes }) => isNamed(nodes, nodeName)) ||
    troublesOf(troubles, "node-flaps").some(
      ({ nodes, everyMs }) => isNamed(nodes, nodeName) && isInSecondHalf(everyMs, now.getTime()),
    );
  const reported = troublesOf(troubles, "node-condition")
    .filter(({ nodes }) => isNamed(nodes, nodeName))
    .map(({ type, status, reason = type, message = `${type} was asked for` }): MoreCondition => ({
      type,
      status,
      reason,
      message,
    }));
  const mended = former
    .filter((type) => !reported.some((condition) => condition.type === type))
    .map((type): MoreCondition => ({ type, status: "False", reason: `No${type}`, message: `${type} is over` }));
  return { ready: isBad ? "False" : own, conditions: [...reported, ...mended] };
}
