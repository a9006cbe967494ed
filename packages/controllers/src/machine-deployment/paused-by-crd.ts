import type { MachineDeployment } from "@millwright/core";
import { setPausedCondition } from "../crd-guard/paused-messages.ts";
import type { CrdState } from "../model/crd-state.ts";
import type { MachineDeploymentDecision } from "./state/snapshot.ts";

/** Decides about a deployment that a CRD pauses: it does nothing and reports why. The rest of its status stays as it was. */
export function decidePaused({ status }: MachineDeployment, crd: CrdState, now: Date): MachineDeploymentDecision {
  const { conditions, because } = setPausedCondition(status?.conditions ?? [], crd, { now, updateTime: true });
  return { actions: [], status: { ...status, conditions }, because };
}
