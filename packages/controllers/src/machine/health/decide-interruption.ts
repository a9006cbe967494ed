import { machineEventReasons, phaseOf, spotInterrupted } from "@millwright/core/machine-api";
import { interruptionDeadline, interruptionOf, interruptionPatch } from "../../model/interruption.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** Phases in which a machine is replaced before its VM is lost. An update in place ends by its own timeouts. */
const interruptible: ReadonlySet<string | undefined> = new Set(["Pending", "Running", "Unknown"]);

/**
 * Makes a machine Failed at once whose node shows that the cloud will reclaim its VM, so that its set replaces it while there is time for a drain. Neither the remediation budget nor an
 * outage defers that: the VM is lost in any case. `undefined` without a notice.
 */
export function decideInterruption(snapshot: MachineSnapshot, now: Date): MachineDecision | undefined {
  const { machine, node } = snapshot;
  const notice = interruptionOf(node);
  if (notice === undefined || machine.spec.disableHealthTimeout === true) return undefined;
  if (!interruptible.has(phaseOf(machine))) return undefined;
  const deadline = interruptionDeadline(notice, now);
  const message = spotInterrupted(machine.metadata.name, notice.taint, deadline);
  const operation = { description: message, state: "Failed", type: "HealthCheck" } as const;
  return {
    actions: [{ kind: "PatchMachine", patch: interruptionPatch(deadline) }],
    status: withPhase(withOperation(statusOf(machine), operation, now), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.spotInterrupted, message }],
  };
}
