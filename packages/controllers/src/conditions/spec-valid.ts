import {
  eventReasons,
  type FieldProblem,
  formatProblems,
  specValidConditionType,
  specValidReasons,
} from "@millwright/core/machine-api";
import type { Reason } from "../model/decision.ts";
import { type Condition, type ConditionState, findCondition } from "@millwright/kube";

/** All problems, one per line with a bullet, as conditions list them: `* spec.replicas: must be …` (Cluster API, `machinedeployment_status.go`). */
const describe = (problems: readonly FieldProblem[]): string =>
  problems.map(({ path, message }) => `* ${path}: ${message}`).join("\n");

/** `SpecValid`, our condition that reports why an object with an invalid spec is not reconciled. */
export const specValidState = (problems: readonly FieldProblem[], generation: number | undefined): ConditionState => ({
  type: specValidConditionType,
  ...(problems.length === 0
    ? { status: "True", reason: specValidReasons.valid, message: "" }
    : { status: "False", reason: specValidReasons.invalid, message: describe(problems) }),
  ...(generation === undefined ? {} : { observedGeneration: generation }),
});

/** One reason when a spec turns invalid, or invalid in another way; none when `conditions` report it already. */
export function invalidSpecEvents(
  problems: readonly FieldProblem[],
  conditions: readonly Condition[] | undefined,
): readonly Reason[] {
  if (problems.length === 0) return [];
  const before = findCondition(conditions, specValidConditionType);
  if (before?.status === "False" && before.message === describe(problems)) return [];
  return [{ type: "Warning", reason: eventReasons.invalidSpec, message: formatProblems(problems) }];
}
