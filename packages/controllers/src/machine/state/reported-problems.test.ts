import { expect, it } from "vitest";
import { createReportedProblems } from "./reported-problems.ts";

const warning = (reason: string, message: string) => ({ type: "Warning", reason, message }) as const;

it("keeps the lasting problems of each machine until the machine is deleted", () => {
  const reported = createReportedProblems();
  expect([...reported.of("a")]).toEqual([]);
  reported.record("a", [warning("InvalidPreserveValue", "first"), warning("NodeUnhealthy", "not lasting")]);
  reported.record("b", [warning("NodeUnhealthy", "not lasting")]);
  expect([...reported.of("a")]).toEqual([["InvalidPreserveValue", "first"]]);
  expect([...reported.of("b")]).toEqual([]);
  reported.record("a", [warning("InvalidPreserveValue", "second")]);
  expect([...reported.of("a")]).toEqual([["InvalidPreserveValue", "second"]]);
  reported.forget("a");
  expect([...reported.of("a")]).toEqual([]);
});

it("keeps two problems of a machine at once, so that neither hides the other", () => {
  const reported = createReportedProblems();
  reported.record("a", [warning("NodeClaimedTwice", "node")]);
  reported.record("a", [warning("InvalidDrainRules", "rules")]);
  expect(Object.fromEntries(reported.of("a"))).toEqual({ NodeClaimedTwice: "node", InvalidDrainRules: "rules" });
});
