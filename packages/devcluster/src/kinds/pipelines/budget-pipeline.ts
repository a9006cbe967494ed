import { arrayAt, at, type Json, objectAt, stringAt } from "../../json/json.ts";
import { quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { builtInPipeline } from "./built-in-pipeline.ts";

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
    const policyProblems: readonly Cause[] =
      policy === undefined || policy === "AlwaysAllow" || policy === "IfHealthyBudget"
        ? []
        : [
            {
              reason: "FieldValueNotSupported",
              message: `Unsupported value: ${quoted(policy)}: supported values: "AlwaysAllow", "IfHealthyBudget"`,
              field: "spec.unhealthyPodEvictionPolicy",
            },
          ];
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
    const message = `Invalid value: ${quoted(shown)}: minAvailable and maxUnavailable cannot be both set`;
    return [{ reason: "FieldValueInvalid", message, field: "spec" }];
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
      const message = `Invalid value: ${quoted(operator)}: not a valid selector operator`;
      return [{ reason: "FieldValueInvalid", message, field: `${place}.operator` }];
    }
    if (operator.endsWith("In") && !hasValues) {
      const message = "Required value: must be specified when `operator` is 'In' or 'NotIn'";
      return [{ reason: "FieldValueRequired", message, field: `${place}.values` }];
    }
    if (!operator.endsWith("In") && hasValues) {
      const message = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return [{ reason: "FieldValueForbidden", message, field: `${place}.values` }];
    }
    return [];
  });
}

/** A bound of a budget is a number of pods or a percentage of them. */
function boundProblems(key: string, bound: Json | undefined): readonly Cause[] {
  const fail = (why: string): readonly Cause[] => [
    { reason: "FieldValueInvalid", message: `Invalid value: ${quoted(bound ?? null)}: ${why}`, field: `spec.${key}` },
  ];
  if (typeof bound === "number" && bound < 0) return fail("must be greater than or equal to 0");
  if (typeof bound !== "string" || /^[0-9]+%$/.test(bound)) return [];
  return fail(
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for " +
      "validation is '[0-9]+%')",
  );
}
