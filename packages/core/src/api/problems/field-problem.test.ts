import { expect, it } from "vitest";
import { formatProblems, joinPath } from "./field-problem.ts";

it("writes paths as a person does", () => {
  expect(joinPath("", "spec")).toBe("spec");
  expect(joinPath("spec.taints", 2)).toBe("spec.taints[2]");
  expect(joinPath("metadata.labels", "a.b/c")).toBe("metadata.labels[a.b/c]");
  expect(joinPath("a", "x".repeat(1000) + "/")).toHaveLength(131);
});

it("writes all problems in one line", () => {
  const problems = [
    { path: "a", message: "is required", kind: "required" },
    { path: "b", message: "must be 1", kind: "invalid" },
  ] as const;
  expect(formatProblems(problems)).toBe("a: is required; b: must be 1");
});
