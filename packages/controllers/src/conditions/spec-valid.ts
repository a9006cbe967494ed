import { type FieldProblem, specValidConditionType, specValidReasons } from "@millwright/core";
import type { ConditionState } from "./set-condition.ts";

/** All problems, one per line with a bullet, as conditions list them: `* spec.replicas: must be …` (cluster-api-conditions.md, section 12). */
const describe = (problems: readonly FieldProblem[]): string =>
  problems.map(({ path, message }) => `* ${path}: ${message}`).join("\n");

/** `SpecValid`, our condition that says why nothing happens to an object whose spec cannot be followed. */
export const specValidState = (problems: readonly FieldProblem[], generation: number | undefined): ConditionState => ({
  type: specValidConditionType,
  ...(problems.length === 0
    ? { status: "True", reason: specValidReasons.valid, message: "" }
    : { status: "False", reason: specValidReasons.invalid, message: describe(problems) }),
  ...(generation === undefined ? {} : { observedGeneration: generation }),
});
