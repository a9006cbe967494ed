import { expect, it } from "vitest";
import { deletionBudgetPolicy, deletionProtectionPolicy } from "./admission-policies.ts";

it("refuses the deletion of all objects that the controllers keep", () => {
  const [policy] = deletionProtectionPolicy();
  const texts = expect.stringContaining('in ["1","t","T","true","TRUE","True"]');
  expect(policy?.spec["validations"]).toEqual([expect.objectContaining({ expression: texts })]);
});

it("warns and refuses nothing, also when it cannot be evaluated", () => {
  const [policy, binding] = deletionBudgetPolicy();
  expect(policy?.spec["failurePolicy"]).toBe("Ignore");
  expect(binding?.spec).toEqual({ policyName: policy?.metadata.name, validationActions: ["Warn"] });
});

it("has the share as its first variable, which the chart replaces, and uses none before it is declared", () => {
  const { variables = [] } = deletionBudgetPolicy()[0]?.spec ?? {};
  if (!Array.isArray(variables)) throw new TypeError("no variables");
  expect(variables[0]).toEqual({ name: "share", expression: "50" });
  const known = new Set<string>();
  for (const { name, expression } of variables) {
    const used = [...String(expression).matchAll(/variables\.(\w+)/g)].map(([, each = ""]) => each);
    expect(used.filter((each) => !known.has(each))).toEqual([]);
    known.add(name);
  }
});
