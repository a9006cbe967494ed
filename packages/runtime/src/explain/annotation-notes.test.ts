import { annotationKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { unknownAnnotations } from "./annotation-notes.ts";

const notesOf = (...keys: readonly string[]) =>
  unknownAnnotations("MachineDeployment", {
    name: "pool",
    annotations: Object.fromEntries(keys.map((key) => [key, "x"])),
  });

it("reports unknown names under our prefix, and no others", () => {
  expect(unknownAnnotations("MachineDeployment", { name: "pool" })).toEqual([]);
  const others = Object.values(annotationKeys).filter((key) => key !== annotationKeys.startupTaints);
  expect(notesOf(...others, "example.com/canary-steps")).toEqual([]);
  expect(notesOf("machine.millwright.dev/canary-setps")).toEqual([
    'MachineDeployment "pool" has annotation machine.millwright.dev/canary-setps, which is unknown and has no effect; check its spelling',
  ]);
});

it("reports an annotation that belongs to the template, and where it has an effect", () => {
  expect(notesOf(annotationKeys.startupTaints)).toEqual([
    'MachineDeployment "pool" has annotation machine.millwright.dev/startup-taints, which has no effect there; write it into spec.template.metadata.annotations',
  ]);
});

it("reports five at most", () => {
  expect(notesOf(...Array.from({ length: 9 }, (_, index) => `machine.millwright.dev/x${index}`))).toHaveLength(5);
});
