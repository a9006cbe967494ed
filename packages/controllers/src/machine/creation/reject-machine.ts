import { formatProblems, machineEventReasons, type OperationEvent } from "@millwright/core/machine-api";
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

/** What the last operation reports where a class, or its Secret, stops a machine: that it is a Secret is recorded, since only a user can restore it. */
export const classEvent = ({ reason }: ClassProblem, text: string): OperationEvent => ({
  reason: reason === machineEventReasons.secretNotFound ? "SecretNotFound" : "ClassUnusable",
  text,
});

/** The spec or the class is invalid; only a change of the named object helps, so the creation timeout does not make the machine Failed. */
export function rejectMachine(snapshot: MachineSnapshot, rejection: ClassProblem, now: Date): MachineDecision {
  const { reason, problem } = rejection;
  const before = statusOf(snapshot.machine);
  const description = snapshot.problems.length > 0 ? problem : classEvent(rejection, problem);
  const operation = { description, errorCode: "InvalidArgument", state: "Failed", type: "Create" } as const;
  const updated = withOperation(before, operation, now);
  const status = isProvisioning(snapshot.machine) ? withPhase(updated, "CrashLoopBackOff", now) : updated;
  const isNew = status.lastOperation !== before.lastOperation;
  return { actions: [], status, because: isNew ? [{ type: "Warning", reason, message: problem }] : [] };
}
