import { type MachineDecision, nothing } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { recordIds } from "../state/vm-ids.ts";

/** What a terminating machine does first while its VM is being created: the VM must be known before it can be deleted, or kept. `undefined` when none is. */
export function finishCreation(snapshot: MachineSnapshot): MachineDecision | undefined {
  const { operation } = snapshot;
  if (operation?.kind !== "create") return undefined;
  if (operation.state === "running") return nothing;
  return operation.state === "done" ? { actions: recordIds(snapshot, operation.result), because: [] } : undefined;
}
