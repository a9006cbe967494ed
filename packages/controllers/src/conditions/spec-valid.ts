import { type FieldProblem, formatProblems, specValidConditionType, specValidReasons } from "@millwright/core";
import type { ConditionState } from "./set-condition.ts";

/** `SpecValid`, our condition that says why nothing happens to an object whose spec cannot be followed. */
export const specValidState = (problems: readonly FieldProblem[], generation: number | undefined): ConditionState => ({
  type: specValidConditionType,
  ...(problems.length === 0
    ? { status: "True", reason: specValidReasons.valid, message: "" }
    : { status: "False", reason: specValidReasons.invalid, message: formatProblems(problems) }),
  ...(generation === undefined ? {} : { observedGeneration: generation }),
});
