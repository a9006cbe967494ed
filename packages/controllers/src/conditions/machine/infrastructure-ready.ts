import {
  clusterApiReasons as reasons,
  type Machine,
  machineConditionTypes as types,
  phaseOf,
  conflictConditionType,
  severalNodesConditionType,
} from "@millwright/core/machine-api";
import { isProvisioningVm } from "../../model/provisioning.ts";
import { isPast } from "./deleting.ts";
import { classKindOf, type ConditionOf, phaseSince, newCondition } from "./facts.ts";
import { findCondition, cutText } from "@millwright/kube";

/** What everything about a machine waits for that has no VM yet. */
export const waitingForVm = "Waiting for the VM to be created";

/** What the creation of the VM waits for, or why it fails. */
function creationText(machine: Machine): string {
  const { type, state, description = "" } = machine.status?.lastOperation ?? {};
  const hasReason =
    phaseOf(machine) === "CrashLoopBackOff" ||
    (type === "Create" && state === "Failed") ||
    isProvisioningVm(machine.status ?? {});
  return hasReason && description !== "" ? description : waitingForVm;
}

/** Whether there is a VM, and if not, why. */
export const infrastructureReady: ConditionOf = (facts) => {
  const { machine, hasClass } = facts;
  const { providerID = "" } = machine.spec;
  const phase = phaseOf(machine);
  const not = (reason: string, message: string) =>
    newCondition(types.infrastructureReady, "False", reason, cutText(message), phaseSince(facts));
  if (isPast(facts, "DeleteVm")) return not(reasons.objectDeleted, "VM has been deleted");
  if (providerID === "" && !hasClass) return not(reasons.objectDoesNotExist, `${classKindOf(facts)} does not exist`);
  if (providerID !== "" && phase !== "" && phase !== "CrashLoopBackOff")
    return newCondition(types.infrastructureReady, "True", reasons.provisioned, "", phaseSince(facts));
  return not(reasons.notProvisioned, creationText(machine));
};

/** A condition as the status has it; absent otherwise. */
const asStored =
  (type: string): ConditionOf =>
  ({ machine }) => {
    const stored = findCondition(machine.status?.conditions, type);
    if (stored === undefined) return undefined;
    const { reason = "", message = "", lastTransitionTime } = stored;
    return newCondition(type, "True", reason, message, lastTransitionTime ?? undefined);
  };

/** That the VM belongs to another Machine. */
export const conflict = asStored(conflictConditionType);

/** That several nodes are those of the VM. */
export const severalNodes = asStored(severalNodesConditionType);
