import type { MachineSet } from "../kinds/machine-set.ts";
import type { FieldProblem } from "../problems/field-problem.ts";
import { countProblems } from "./validate-fields.ts";
import { selectionProblems } from "./validate-selection.ts";

/**
 * Problems that keep a set from making machines; empty for a good one. A set that is being deleted need not pass.
 * Source: MCM, `pkg/apis/machine/validation`.
 */
export function validateMachineSet(set: MachineSet): readonly FieldProblem[] {
  return [
    ...countProblems(set.spec, ["replicas", "minReadySeconds", "autoPreserveFailedMachineMax"], "spec"),
    ...selectionProblems(set.spec.selector, set.spec.template, "spec"),
  ];
}
