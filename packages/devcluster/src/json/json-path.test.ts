import { expect, test } from "vitest";
import { compileJsonPath } from "./json-path.ts";

const value = {
  metadata: { annotations: { "a.b/c": "x" } },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False", n: 3 },
    ],
  },
};

test.each([
  [".status.conditions[0].type", ["Ready"]],
  [".status.conditions[-1].type", ["Other"]],
  [".status.conditions[*].type", ["Ready", "Other"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.n>2)].type", ["Other"]],
  [".status.conditions[?(@.n)].type", ["Other"]],
  [String.raw`.metadata.annotations.a\.b/c`, ["x"]],
  [".metadata.annotations['a.b/c']", ["x"]],
  ["{.metadata.annotations['a\\.b/c']}", ["x"]],
  [".metadata.constructor", []],
  [".missing.deep", []],
])("%s", (path, expected) => {
  expect(compileJsonPath(path)?.(value)).toEqual(expected);
});

test("returns undefined for unsupported syntax", () => {
  expect(compileJsonPath(".a..b")).toBeUndefined();
  expect(compileJsonPath(".a[?(broken")).toBeUndefined();
});
