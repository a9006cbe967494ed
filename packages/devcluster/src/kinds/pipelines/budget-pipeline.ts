import { arrayAt, at, type Json, objectAt, stringAt } from "../../json/json.ts";
import { forbiddenValue, invalidValue, notSupported, required } from "../../errors/field-errors.ts";
import type { Cause } from "../../errors/status-error.ts";
import { builtInPipeline } from "./built-in-pipeline.ts";

const policies = ["AlwaysAllow", "IfHealthyBudget"];

/** PodDisruptionBudgets: `minAvailable` or `maxUnavailable`, not both. */
export const disruptionBudgetPipeline = builtInPipeline({
  complete: (budget) => ({
    ...budget,
    status: {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0,
      ...objectAt(budget, "status"),
    },
  }),
  validate(budget) {
    const bounds = ["minAvailable", "maxUnavailable"].flatMap((key) => boundProblems(key, at(budget, "spec", key)));
    const policy = stringAt(budget, "spec", "unhealthyPodEvictionPolicy");
    const policyProblems =
      policy === undefined || policies.includes(policy)
        ? []
        : [notSupported("spec.unhealthyPodEvictionPolicy", policy, policies)];
    const selector = selectorProblems(at(budget, "spec", "selector"), "spec.selector");
    if (bounds.length + policyProblems.length + selector.length > 0) return [...bounds, ...policyProblems, ...selector];
    const both = ["minAvailable", "maxUnavailable"].every((key) => at(budget, "spec", key) !== undefined);
    if (!both) return [];
    const shown: Json = {
      MinAvailable: at(budget, "spec", "minAvailable") ?? null,
      Selector: at(budget, "spec", "selector") ?? null,
      MaxUnavailable: at(budget, "spec", "maxUnavailable") ?? null,
      UnhealthyPodEvictionPolicy: policy ?? null,
    };
    return [invalidValue("spec", shown, "minAvailable and maxUnavailable cannot be both set")];
  },
});

const selectorOperators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/** Validates a label selector. */
function selectorProblems(selector: Json | undefined, path: string): readonly Cause[] {
  return arrayAt(selector, "matchExpressions").flatMap((expression, index): Cause[] => {
    const place = `${path}.matchExpressions[${index}]`;
    const operator = stringAt(expression, "operator") ?? "";
    const hasValues = arrayAt(expression, "values").length > 0;
    if (!selectorOperators.has(operator)) {
      return [invalidValue(`${place}.operator`, operator, "not a valid selector operator")];
    }
    if (operator.endsWith("In") && !hasValues) {
      return [required(`${place}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    }
    if (!operator.endsWith("In") && hasValues) {
      return [forbiddenValue(`${place}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    }
    return [];
  });
}

/** A bound of a budget is a number of pods or a percentage of them. */
function boundProblems(key: string, bound: Json | undefined): readonly Cause[] {
  const fail = (why: string) => [invalidValue(`spec.${key}`, bound ?? null, why)];
  if (typeof bound === "number" && bound < 0) return fail("must be greater than or equal to 0");
  if (typeof bound !== "string" || /^[0-9]+%$/.test(bound)) return [];
  return fail(
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for " +
      "validation is '[0-9]+%')",
  );
}
