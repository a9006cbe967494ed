import type { MachineDeployment } from "@millwright/core";
import type { Hold } from "../model/hold.ts";
import { reportHold } from "../model/hold-condition.ts";
import type { MachineDeploymentDecision } from "./state/snapshot.ts";

/** Decides about a deployment of which everything is held: it does nothing and reports why. The rest of its status stays as it was. */
export function decideHeld({ status }: MachineDeployment, hold: Hold, now: Date): MachineDeploymentDecision {
  const { conditions, because } = reportHold(status?.conditions ?? [], hold, { now, updateTime: true });
  return { actions: [], status: { ...status, conditions }, because };
}
