import {
  clusterApiReasons as reasons,
  isProvisioningVm,
  machineConditionTypes as types,
  phaseOf,
} from "@millwright/core";
import { cutText } from "../message-lines.ts";
import { isPast } from "./deleting.ts";
import { classKindOf, type ConditionOf, phaseSince, newCondition } from "./facts.ts";

/** Whether there is a VM, and if not, why. */
export const infrastructureReady: ConditionOf = (facts) => {
  const { machine, hasClass } = facts;
  const { providerID = "" } = machine.spec;
  const { lastOperation } = machine.status ?? {};
  const { type, state, description = "" } = lastOperation ?? {};
  const phase = phaseOf(machine);
  const not = (reason: string, message: string) =>
    newCondition(types.infrastructureReady, "False", reason, cutText(message), phaseSince(facts));
  if (isPast(facts, "DeleteVm")) return not(reasons.objectDeleted, "VM has been deleted");
  if (providerID === "" && !hasClass) return not(reasons.objectDoesNotExist, `${classKindOf(facts)} does not exist`);
  if (providerID !== "" && phase !== "" && phase !== "CrashLoopBackOff")
    return newCondition(types.infrastructureReady, "True", reasons.provisioned, "", phaseSince(facts));
  const hasReason =
    phase === "CrashLoopBackOff" || (type === "Create" && state === "Failed") || isProvisioningVm(lastOperation);
  return not(
    reasons.notProvisioned,
    hasReason && description !== "" ? description : "Waiting for the VM to be created",
  );
};
