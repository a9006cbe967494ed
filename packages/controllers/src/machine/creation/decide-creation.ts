import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { msUntilRetry } from "../../model/retry.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { hasId } from "../../model/provisioning.ts";
import { decidePending } from "./decide-pending.ts";
import { decideInitialization, settle } from "./decide-initialization.ts";
import { decideStaleVm } from "./decide-stale-vm.ts";
import { decideWaiting } from "./decide-waiting.ts";
import { readIntent } from "../../model/creation-intent.ts";
import { recordFailure } from "./record-failure.ts";
import { recordVm, rejectVm } from "./record-vm.ts";
import { areIdsRecorded } from "../state/vm-ids.ts";
import { unmetPrecondition, rejectMachine } from "./reject-machine.ts";
import { beginCreation } from "./start-creation.ts";

/**
 * Creates the VM of a machine. Unmet preconditions are reported by name; the intent is stored on the machine before the driver is called; the
 * result of the driver is recorded before its next call; a failed call is retried after its backoff, or when its inputs change.
 */
export function decideCreation(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, holder, operation, inputs, settings } = snapshot;
  if (operation?.state === "running") return nothing;
  if (operation?.state === "done" && operation.kind === "create" && holder !== undefined && !hasId(machine))
    return rejectVm(machine, holder);
  if (operation?.state === "done" && operation.kind === "create")
    return areIdsRecorded(snapshot, operation.result)
      ? settle(snapshot, operation.result, now)
      : recordVm(snapshot, operation.result, now);
  const staleNode = readIntent(machine)?.staleNode;
  if (staleNode !== undefined) return decideStaleVm(snapshot, staleNode, now);
  if (hasId(machine)) return decideInitialization(snapshot, now);

  const problem = unmetPrecondition(snapshot);
  const isWaiting = operation?.state === "waiting";
  const isOutdated = isWaiting && (problem !== undefined || operation.inputs !== inputs);
  if (isWaiting && !isOutdated) return decideWaiting(snapshot, operation, now);
  const cancel: readonly MachineAction[] = isOutdated ? [{ kind: "CancelOperation" }] : [];

  if (problem !== undefined) {
    const rejection = rejectMachine(snapshot, problem, now);
    return { ...rejection, actions: cancel };
  }
  if (operation?.state === "failed" && operation.kind === "create") {
    if (!operation.isAcknowledged) return recordFailure(snapshot, operation, now);
    const waitMs = msUntilRetry(operation, inputs, now, settings.resourceExhaustedRetryMs);
    if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
  }
  if (operation?.state === "pending" && operation.kind === "create") return decidePending(snapshot, operation, now);
  return { actions: [...cancel, ...beginCreation(snapshot)], because: [] };
}
