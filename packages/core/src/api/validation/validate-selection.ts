import type { MachineTemplate } from "../kinds/machine-spec.ts";
import type { FieldProblem } from "../problems/field-problem.ts";
import type { LabelSelector } from "../values/label-selector-schema.ts";
import { parseLabelSelector, selectsEverything, unmetRequirements } from "../values/label-selector.ts";
import { metadataProblems } from "./validate-fields.ts";
import { machineSpecProblems, startupTaintProblems } from "./validate-machine.ts";

/**
 * Problems of a selector and the template whose machines it must select. A missing selector is a problem (it crashes MCM),
 * so is one that selects everything, and one that does not match the labels of the template, expressions
 * included. Source: MCM, `pkg/apis/machine/validation`.
 */
export function selectionProblems(
  selector: LabelSelector | undefined,
  template: MachineTemplate,
  path: string,
): FieldProblem[] {
  return [
    ...selectorProblems(selector, template, `${path}.selector`),
    ...metadataProblems(template.metadata, `${path}.template.metadata`),
    ...startupTaintProblems(template.metadata?.annotations, `${path}.template.metadata.annotations`),
    ...machineSpecProblems(template.spec, `${path}.template.spec`),
  ];
}

function selectorProblems(
  selector: LabelSelector | undefined,
  template: MachineTemplate,
  path: string,
): readonly FieldProblem[] {
  if (!selector) {
    const message = "is required: labels that select the machines of the template, such as matchLabels";
    return [{ path, message, kind: "required" }];
  }
  const parsed = parseLabelSelector(selector, path);
  if (!parsed.ok) return parsed.problems;
  if (selectsEverything(parsed.matcher)) {
    const message = "must not be empty: it would select every machine of the namespace";
    return [{ path, message, kind: "invalid" }];
  }
  const unmet = unmetRequirements(parsed.matcher, template.metadata?.labels);
  if (unmet.length === 0) return [];
  const message = `must match spec.template.metadata.labels, which do not fulfill ${unmet.join(" and ")}`;
  return [{ path, message, kind: "invalid" }];
}
