import { nodeConditionTypes, phaseOf, terminatingReasons } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { MachineAction } from "../state/decision.ts";
import { conditionOf, setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/**
 * Whether the machine was unhealthy, not just surplus: by its phase before the deletion flow started, afterwards by the last health check
 */
function wasUnhealthy({ machine }: MachineSnapshot): boolean {
  const phase = phaseOf(machine);
  if (phase !== "Terminating") return phase === "Failed" || phase === "Unknown";
  const checked = machine.status?.history?.findLast(({ operation }) => operation === "HealthCheck");
  return checked !== undefined && checked.outcome !== "Successful";
}

/** Sets the condition Terminating of the node once, with its reason: the cluster autoscaler and users read it. When that fails, the node is drained nevertheless. */
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
