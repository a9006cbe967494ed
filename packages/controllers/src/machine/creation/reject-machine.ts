import { formatProblems, machineEventReasons } from "@millwright/core";
import type { MachineDecision } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import type { ClassProblem } from "../../model/driver-port.ts";
import { statusOf, withOperation, withPhase } from "../../model/status-change.ts";
import { isProvisioning } from "../../model/provisioning.ts";

/** Why a machine cannot be created as specified: its own spec first, then its class. */
export function unmetPrecondition({ problems, classView }: MachineSnapshot): ClassProblem | undefined {
  if (problems.length > 0) return { reason: machineEventReasons.invalidMachine, problem: formatProblems(problems) };
  return classView.state === "unusable" ? classView : classView.unmetPrecondition;
}

/** The spec or the class is invalid; only a change of the named object helps, so the creation timeout does not make the machine Failed. */
export function rejectMachine(
  snapshot: MachineSnapshot,
  { reason, problem }: ClassProblem,
  now: Date,
): MachineDecision {
  const before = statusOf(snapshot.machine);
  const operation = { description: problem, errorCode: "InvalidArgument", state: "Failed", type: "Create" } as const;
  const updated = withOperation(before, operation, now);
  const status = isProvisioning(snapshot.machine) ? withPhase(updated, "CrashLoopBackOff", now) : updated;
  const isNew = status.lastOperation !== before.lastOperation;
  return { actions: [], status, because: isNew ? [{ type: "Warning", reason, message: problem }] : [] };
}
