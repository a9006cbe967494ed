import type { CrdState } from "../model/crd-state.ts";
import { tellStandstill } from "../crd-guard/crd-condition.ts";
import type { MachineDeploymentDecision, MachineDeploymentSnapshot } from "./state/snapshot.ts";

/** What a deployment does while a definition is being deleted on which it hangs: nothing, and it says why. The rest of its status stays as it was. */
export function decideStandstill(
  { deployment }: MachineDeploymentSnapshot,
  definition: CrdState,
  now: Date,
): MachineDeploymentDecision {
  const { status } = deployment;
  const { conditions, because } = tellStandstill(status?.conditions ?? [], definition, now, "transition and update");
  return { actions: [], status: { ...status, conditions }, because };
}
