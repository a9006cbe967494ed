import {
  annotationKeys,
  type DrainRule,
  formatProblems,
  machineEventReasons,
  type ObjectMeta,
  readDrainRules,
} from "@millwright/core";
import type { Reason } from "../../model/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";

/** The rules of an ordered drain that hold for a machine. */
export interface DrainRulesView {
  readonly rules: readonly DrainRule[];
  /** Why rules that somebody wrote are not followed, as one sentence. */
  readonly problem?: string;
}

/**
 * Reads the rules of a machine's drain: its own annotation, else that of its class. Rules that cannot be read are ignored as a whole, those of the class included:
 * half of an order is no order.
 */
export function drainRulesOf(machine: ObjectMeta, machineClass: ObjectMeta | undefined): DrainRulesView {
  const key = annotationKeys.drainRules;
  const owner =
    machine.annotations?.[key] !== undefined || machineClass === undefined
      ? { subject: `Machine "${machine.name}"`, text: machine.annotations?.[key] }
      : { subject: `MachineClass "${machineClass.name}"`, text: machineClass.annotations?.[key] };
  if (owner.text === undefined) return { rules: [] };
  const result = readDrainRules(owner.text, `metadata.annotations[${key}]`);
  if (result.ok) return { rules: result.rules };
  return {
    rules: [],
    problem: `${owner.subject}: ${formatProblems(result.problems)}; drains ignore the rules until they are mended`,
  };
}

/** What is told of rules that are ignored: once, not in every pass of the drain. */
export const drainRuleEvents = ({
  drainRulesProblem: message,
  reported,
}: Pick<MachineSnapshot, "drainRulesProblem" | "reported">): readonly Reason[] =>
  message === undefined || message === reported.get(machineEventReasons.invalidDrainRules)
    ? []
    : [{ type: "Warning", reason: machineEventReasons.invalidDrainRules, message }];
