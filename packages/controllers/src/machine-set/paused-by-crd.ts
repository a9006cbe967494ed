import type { CrdState } from "../model/crd-state.ts";
import { tellStandstill } from "../crd-guard/crd-condition.ts";
import { awaitPatch } from "./awaited-machines.ts";
import type { MachineSetDecision, MachineSetSnapshot } from "./snapshot.ts";

/**
 * What a set does while a definition is being deleted on which it hangs: it notes how many machines it has, so that it makes no others for them when they come back under the new
 * definition, and says why it does nothing. The rest of its status stays as it was.
 */
export function decideStandstill(
  { set, claim }: MachineSetSnapshot,
  definition: CrdState,
  now: Date,
): MachineSetDecision {
  const patch = awaitPatch(set, claim.owned);
  const { conditions, because } = tellStandstill(set.status?.machineSetCondition ?? [], definition, now, "transition");
  return {
    actions: patch === undefined ? [] : [{ kind: "PatchSet", patch }],
    status: { ...set.status, machineSetCondition: conditions },
    because,
  };
}
