import { orchestrationTypes, strategyTypeOf, strategyTypes } from "../kinds/defaults.ts";
import type { MachineDeployment, MachineDeploymentStrategy } from "../kinds/machine-deployment.ts";
import { type FieldProblem, quoted } from "../problems/field-problem.ts";
import { parseIntOrPercent, type IntOrPercent } from "../values/fenceposts.ts";
import type { LabelSelector } from "../values/label-selector-schema.ts";
import { parseLabelSelector } from "../values/label-selector.ts";
import { longestName } from "../values/label-syntax.ts";
import { labelKeys } from "../../wire/labels.ts";
import { countProblems } from "./validate-fields.ts";
import { selectionProblems } from "./validate-selection.ts";

/** A set is called `<deployment>-<5 characters>`. Source: MCM, `pkg/controller/deployment_sync.go` getNewMachineSet. */
const setSuffixLength = 6;

const counts = [
  "replicas",
  "minReadySeconds",
  "revisionHistoryLimit",
  "progressDeadlineSeconds",
  "autoPreserveFailedMachineMax",
] as const;

/**
 * Problems that keep a deployment from being rolled out; empty for a good one. What has a default may be missing. A
 * deployment that is being deleted need not pass. Source: MCM, `pkg/apis/machine/validation`.
 */
export function validateMachineDeployment(deployment: MachineDeployment): readonly FieldProblem[] {
  const { metadata, spec } = deployment;
  return [
    ...nameProblems(metadata.name),
    ...countProblems(spec, counts, "spec"),
    ...rollbackProblems(spec.rollbackTo?.revision),
    ...strategyProblems(spec.strategy),
    ...selectionProblems(spec.selector, spec.template, "spec"),
    ...templateHashProblems(spec.selector),
  ];
}

/**
 * Each set gets its own value of this label in place of that of the template. A selector that requires another value matches none of them: each would be released as soon as it is created,
 * with its machines, and replaced by the next.
 */
function templateHashProblems(selector: LabelSelector = {}): FieldProblem[] {
  const key = labelKeys.machineTemplateHash;
  const parsed = parseLabelSelector(selector);
  if (!parsed.ok || !parsed.matcher.requirements.some((each) => each.key === key && each.operator !== "Exists"))
    return [];
  const message = `must not require a value of label ${key}: each MachineSet gets its own`;
  return [{ path: "spec.selector", message, kind: "invalid" }];
}

function nameProblems(name: string): FieldProblem[] {
  const longest = longestName - setSuffixLength;
  if (name.length <= longest) return [];
  const message = `must have at most ${longest} characters: the names of its sets are ${setSuffixLength} longer`;
  return [{ path: "metadata.name", message, kind: "tooLong" }];
}

function rollbackProblems(revision: number | undefined): FieldProblem[] {
  if (revision === undefined || (Number.isSafeInteger(revision) && revision >= 0)) return [];
  const message = `must be a revision, or 0 for the previous one, is ${revision}`;
  return [{ path: "spec.rollbackTo.revision", message, kind: "invalid" }];
}

function strategyProblems(strategy: MachineDeploymentStrategy | undefined): FieldProblem[] {
  const type = strategyTypeOf(strategy);
  switch (type) {
    case "Recreate":
      return [];
    case "RollingUpdate":
      return fencepostProblems(strategy?.rollingUpdate, "spec.strategy.rollingUpdate");
    case "InPlaceUpdate":
      return [
        ...fencepostProblems(strategy?.inPlaceUpdate, "spec.strategy.inPlaceUpdate"),
        ...orchestrationProblems(strategy?.inPlaceUpdate?.orchestrationType),
      ];
    default: {
      const message = `must be one of ${strategyTypes.join(", ")}, is ${quoted(type)}`;
      return [{ path: "spec.strategy.type", message, kind: "notSupported" }];
    }
  }
}

function orchestrationProblems(type: string | undefined): FieldProblem[] {
  if (orchestrationTypes.some((each) => each === type)) return [];
  const path = "spec.strategy.inPlaceUpdate.orchestrationType";
  return [{ path, message: "must be Auto or Manual", kind: type ? "notSupported" : "required" }];
}

/** Negative fenceposts, and both written as zero, are rejected; a missing one gets its default. */
function fencepostProblems(
  posts: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent } | undefined,
  path: string,
): FieldProblem[] {
  const problems = [
    ...fencepostProblem(posts?.maxSurge, `${path}.maxSurge`),
    ...fencepostProblem(posts?.maxUnavailable, `${path}.maxUnavailable`),
  ];
  if (problems.length > 0 || !isZero(posts?.maxSurge) || !isZero(posts?.maxUnavailable)) return problems;
  const message = "must not have 0 for both maxSurge and maxUnavailable: no machine could ever be replaced";
  return [{ path, message, kind: "invalid" }];
}

function fencepostProblem(value: IntOrPercent | undefined, path: string): FieldProblem[] {
  if (value === undefined) return [];
  const parsed = parseIntOrPercent(value);
  if (parsed && parsed.amount >= 0) return [];
  const written = typeof value === "string" ? quoted(value) : String(value);
  const message = `must be a whole number or a percentage of zero or more, such as 1 or "25%", is ${written}`;
  return [{ path, message, kind: "invalid" }];
}

function isZero(value: IntOrPercent | undefined): boolean {
  return value !== undefined && parseIntOrPercent(value)?.amount === 0;
}
