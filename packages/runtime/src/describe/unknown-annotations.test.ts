import { annotationKeys } from "@millwright/core";
import { expect, it } from "vitest";
import { unknownAnnotations } from "./unknown-annotations.ts";

const notesOf = (...keys: readonly string[]) =>
  unknownAnnotations("MachineDeployment", {
    name: "pool",
    annotations: Object.fromEntries(keys.map((key) => [key, "x"])),
  });

it("reports unknown names under our prefix, and no others", () => {
  expect(unknownAnnotations("MachineDeployment", { name: "pool" })).toEqual([]);
  expect(notesOf(...Object.values(annotationKeys), "example.com/canary-steps")).toEqual([]);
  expect(notesOf("machine.millwright.dev/canary-setps")).toEqual([
    'MachineDeployment "pool" has annotation machine.millwright.dev/canary-setps, which is unknown and has no effect; check its spelling',
  ]);
});

it("reports five at most", () => {
  expect(notesOf(...Array.from({ length: 9 }, (_, index) => `machine.millwright.dev/x${index}`))).toHaveLength(5);
});
