import {
  annotationKeys,
  type DrainRule,
  formatProblems,
  type ObjectMeta,
  readDrainRules,
} from "@millwright/core/machine-api";

/** The drain rules of a machine. */
export interface DrainRulesView {
  readonly rules: readonly DrainRule[];
  /** Why the rules are ignored, as one sentence. */
  readonly problem?: string;
}

/**
 * Reads the drain rules of a machine: its own annotation, else that of its class. Invalid rules are ignored as a whole, and those of the class with them:
 * a part of the order could evict pods too early.
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
    problem: `${owner.subject}: ${formatProblems(result.problems)}; drains ignore the rules until they are fixed`,
  };
}
