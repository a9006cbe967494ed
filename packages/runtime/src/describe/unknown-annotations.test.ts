import { annotationKeys } from "@millwright/core";
import { expect, it } from "vitest";
import { unknownAnnotations } from "./unknown-annotations.ts";

const toldOf = (...keys: readonly string[]) =>
  unknownAnnotations("MachineDeployment", {
    name: "pool",
    annotations: Object.fromEntries(keys.map((key) => [key, "x"])),
  });

it("tells of names under our prefix that nobody knows, and of no others", () => {
  expect(unknownAnnotations("MachineDeployment", { name: "pool" })).toEqual([]);
  expect(toldOf(...Object.values(annotationKeys), "example.com/canary-steps")).toEqual([]);
  expect(toldOf("machine.millwright.dev/canary-setps")).toEqual([
    'MachineDeployment "pool" has annotation machine.millwright.dev/canary-setps, which nobody knows: it has no effect; look at its spelling',
  ]);
});

it("tells of five at most", () => {
  expect(toldOf(...Array.from({ length: 9 }, (_, index) => `machine.millwright.dev/x${index}`))).toHaveLength(5);
});
