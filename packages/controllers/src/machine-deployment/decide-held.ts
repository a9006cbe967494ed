import type { MachineDeployment } from "@millwright/core/machine-api";
import { withSummaryOfHeld } from "../conditions/group/summary.ts";
import type { Hold } from "../model/hold.ts";
import { reportHold } from "../model/hold-condition.ts";
import type { MachineDeploymentDecision } from "./state/snapshot.ts";

/** Decides about a deployment of which everything is held: it does nothing and reports why. The rest of its status stays as it was. */
export function decideHeld({ metadata, status }: MachineDeployment, hold: Hold, now: Date): MachineDeploymentDecision {
  const options = { now, updateTime: true, generation: metadata.generation };
  const { conditions, because } = reportHold(status?.conditions ?? [], hold, options);
  const summary = withSummaryOfHeld(conditions, status?.conditions, options);
  return { actions: [], status: { ...status, conditions: summary }, because };
}
