import { expect, it } from "vitest";
import { createReportedProblems } from "./reported-problems.ts";

const told = (reason: string, message: string) => ({ type: "Warning", reason, message }) as const;

it("remembers the lasting problems of each machine until the machine is gone", () => {
  const memory = createReportedProblems();
  expect([...memory.of("a")]).toEqual([]);
  memory.remember("a", [told("InvalidPreserveValue", "first"), told("NodeUnhealthy", "not lasting")]);
  memory.remember("b", [told("NodeUnhealthy", "not lasting")]);
  expect([...memory.of("a")]).toEqual([["InvalidPreserveValue", "first"]]);
  expect([...memory.of("b")]).toEqual([]);
  memory.remember("a", [told("InvalidPreserveValue", "second")]);
  expect([...memory.of("a")]).toEqual([["InvalidPreserveValue", "second"]]);
  memory.forget("a");
  expect([...memory.of("a")]).toEqual([]);
});

it("remembers two problems of a machine at once, so that neither hides the other", () => {
  const memory = createReportedProblems();
  memory.remember("a", [told("NodeClaimedTwice", "node")]);
  memory.remember("a", [told("InvalidDrainRules", "rules")]);
  expect(Object.fromEntries(memory.of("a"))).toEqual({ NodeClaimedTwice: "node", InvalidDrainRules: "rules" });
});
