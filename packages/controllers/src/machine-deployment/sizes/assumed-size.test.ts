import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet } from "../../testing/builders.ts";
import { assumedSize } from "./assumed-size.ts";

const limited = (min: string, max: string): MachineDeployment => {
  const annotations = { [annotationKeys.autoscalerMinSize]: min, [annotationKeys.autoscalerMaxSize]: max };
  const { spec, ...rest } = aMachineDeployment({ metadata: { annotations } });
  const { replicas: _, ...sizeless } = spec;
  return { ...rest, spec: sizeless };
};
const aSized = (replicas: number, noted?: number) =>
  aMachineSet({
    metadata: { annotations: noted === undefined ? {} : { [annotationKeys.desiredReplicas]: String(noted) } },
    spec: { replicas },
  });

describe("the size of a deployment without spec.replicas", () => {
  it.each([
    ["is the minimum at first", [], 2],
    ["is the one that its sets record", [aSized(7, 6)], 6],
    ["is that of a rollout, not the surge", [aSized(5, 6), aSized(2, 6), aSized(0, 9)], 6],
    ["is the sum of sets that record none", [aSized(3), aSized(2)], 5],
    ["is at least the minimum", [aSized(1, 1)], 2],
    ["is at most the maximum", [aSized(20, 20)], 10],
  ] as const)("%s", (_, sets, size) => {
    expect(assumedSize(limited("2", "10"), sets)).toBe(size);
  });

  it("is none of ours with a size, without a maximum, or with annotations that cannot be used", () => {
    const { spec, ...rest } = limited("2", "10");
    expect(assumedSize({ ...rest, spec: { ...spec, replicas: 0 } }, [aSized(7, 6)])).toBeUndefined();
    expect(assumedSize(limited("x", "10"), [aSized(7, 6)])).toBeUndefined();
    expect(assumedSize(aMachineDeployment(), [aSized(7, 6)])).toBeUndefined();
  });
});
