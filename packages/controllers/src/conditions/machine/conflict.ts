import { conflictConditionType } from "@millwright/core";
import { findCondition } from "@millwright/kube";
import { type ConditionOf, newCondition } from "./facts.ts";

/** That the VM belongs to another Machine, as the status has it; absent otherwise. */
export const conflict: ConditionOf = ({ machine }) => {
  const stored = findCondition(machine.status?.conditions, conflictConditionType);
  if (stored === undefined) return undefined;
  const { reason = "", message = "", lastTransitionTime } = stored;
  return newCondition(conflictConditionType, "True", reason, message, lastTransitionTime ?? undefined);
};
