import { expect, it } from "vitest";
import { differingPaths } from "./differing-paths.ts";

it.each([
  [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, []],
  [{ a: { b: 1 } }, { a: { b: 2 } }, ["spec.a.b"]],
  [{ a: 1 }, {}, ["spec.a"]],
  [{}, { a: 1 }, ["spec.a"]],
  [{ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }, { b: 3 }] }, ["spec.a[1].b"]],
  [{ a: [1] }, { a: [1, 2] }, ["spec.a"]],
  [{ a: [] }, { a: {} }, ["spec.a"]],
])("finds where %j differs from %j", (before, after, paths) => {
  expect(differingPaths(before, after, "spec")).toEqual(paths);
});
