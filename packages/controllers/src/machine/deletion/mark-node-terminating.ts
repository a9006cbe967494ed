import { nodeConditionTypes, phaseOf, terminatingReasons } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { MachineAction } from "../state/decision.ts";
import { conditionOf, setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Whether the machine was given up, not just not wanted any more. Before the flow has begun the phase says so, afterwards what the health check found last
 *.
 */
function wasUnhealthy({ machine }: MachineSnapshot): boolean {
  const phase = phaseOf(machine);
  if (phase !== "Terminating") return phase === "Failed" || phase === "Unknown";
  const checked = machine.status?.history?.findLast(({ operation }) => operation === "HealthCheck");
  return checked !== undefined && checked.outcome !== "Successful";
}

/** Lets the node say, once, that it goes, and why: the cluster autoscaler and people look at it. A node that cannot be told is drained all the same. */
export function markNodeTerminating(snapshot: MachineSnapshot, node: Node, now: Date): readonly MachineAction[] {
  if (conditionOf(node, nodeConditionTypes.terminating)?.status === "True") return [];
  const state = {
    type: nodeConditionTypes.terminating,
    status: "True",
    reason: wasUnhealthy(snapshot) ? terminatingReasons.unhealthy : terminatingReasons.scaleDown,
    message: `Machine ${snapshot.machine.metadata.name} is being deleted`,
  } as const;
  return setNodeCondition(node, state, now).map((action) => ({ ...action, mayFail: true }));
}
