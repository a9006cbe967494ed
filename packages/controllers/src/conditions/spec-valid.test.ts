import type { FieldProblem } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { invalidSpecEvents, specValidState } from "./spec-valid.ts";

const problems: readonly FieldProblem[] = [
  { path: "spec.replicas", message: "must not be negative", kind: "invalid" },
  { path: "spec.selector", message: "is required", kind: "required" },
];

describe("specValidState", () => {
  it("lists every problem on a line of its own", () => {
    expect(specValidState(problems, 2)).toEqual({
      type: "SpecValid",
      status: "False",
      reason: "InvalidSpec",
      message: "* spec.replicas: must not be negative\n* spec.selector: is required",
      observedGeneration: 2,
    });
  });

  it("is True without problems, with the generation if it is known", () => {
    const valid = { type: "SpecValid", status: "True", reason: "Valid", message: "" };
    expect(specValidState([], 2)).toEqual({ ...valid, observedGeneration: 2 });
    expect(specValidState([], undefined)).toEqual(valid);
  });
});

describe("invalidSpecEvents", () => {
  it("is one warning with all problems, until the condition is the same", () => {
    const [reason, ...more] = invalidSpecEvents(problems, undefined);
    expect(more).toEqual([]);
    expect(reason).toMatchObject({ type: "Warning", reason: "InvalidSpec" });
    expect(reason?.message).toContain("spec.replicas");
    expect(reason?.message).toContain("spec.selector");
    expect(invalidSpecEvents(problems, [specValidState(problems, 1)])).toEqual([]);
  });

  it("is recorded again for other problems and after the spec was valid", () => {
    expect(invalidSpecEvents(problems.slice(1), [specValidState(problems, 1)])).toHaveLength(1);
    expect(invalidSpecEvents(problems, [specValidState([], 1)])).toHaveLength(1);
  });

  it("is nothing without problems", () => {
    expect(invalidSpecEvents([], [specValidState(problems, 1)])).toEqual([]);
  });
});
