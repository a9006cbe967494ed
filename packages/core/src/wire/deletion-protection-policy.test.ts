import { expect, it } from "vitest";
import { deletionProtectionPolicy } from "./deletion-protection-policy.ts";

it("refuses the deletion of all objects that the controllers keep", () => {
  const [policy] = deletionProtectionPolicy();
  const texts = expect.stringContaining('in ["1","t","T","true","TRUE","True"]');
  expect(policy?.spec["validations"]).toEqual([expect.objectContaining({ expression: texts })]);
});
