import type { MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, type Change } from "../../testing/builders.ts";
import { newSetReplicas } from "./plan-rolling-update.ts";
import { boundsOf } from "../state/rollout-bounds.ts";

const rolling = (maxSurge: number | string, maxUnavailable: number | string): Change<MachineDeployment> => ({
  spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } },
});
const inPlace = (
  orchestrationType: string,
  maxSurge: number | string,
  maxUnavailable: number | string,
): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type: "InPlaceUpdate",
      rollingUpdate: null,
      inPlaceUpdate: { orchestrationType, maxSurge, maxUnavailable },
    },
  },
});
const recreate: Change<MachineDeployment> = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };
const boundsWith = (replicas: number, change: Change<MachineDeployment>) =>
  boundsOf(aMachineDeployment(change, { spec: { replicas } }));

// Cases of MCM, `pkg/controller/deployment_util_test.go` ResolveFenceposts.
describe("the bounds of a rollout", () => {
  it.each<[string, number, Change<MachineDeployment>, number, number]>([
    ["a surge rounded up, unavailability rounded down", 10, rolling("25%", "25%"), 3, 2],
    ["something, where both come out as nothing", 2, rolling("0%", "1%"), 0, 1],
    ["nothing that may be missing of nothing", 0, rolling(1, 1), 1, 0],
    ["no more that may be missing than there is", 5, rolling(0, 10), 0, 5],
    ["no bounds of its own with Recreate", 5, recreate, 0, 0],
    ["those of an update in place", 5, inPlace("Auto", 2, 0), 2, 0],
    ["no surge where people orchestrate, and one machine instead", 5, inPlace("Manual", 2, 0), 0, 1],
    ["what may be missing where people orchestrate", 5, inPlace("Manual", 2, "40%"), 0, 2],
  ])("are %s", (_, replicas, change, maxSurge, maxUnavailable) => {
    expect(boundsWith(replicas, change)).toEqual({ replicas, maxSurge, maxUnavailable });
  });

  // The rows NewISNewReplicas: 5 replicas, an old set of 4; what a new set of so many may have.
  it.each<[string, Change<MachineDeployment>, number, number]>([
    ["RollingUpdate: what is left of the surge", rolling(2, 0), 2, 3],
    ["RollingUpdate: nothing more when that is used up", rolling(2, 0), 3, 3],
    ["Auto: the surge, and the one that is missing", inPlace("Auto", 2, 0), 0, 3],
    ["Auto: a smaller surge", inPlace("Auto", 1, 0), 0, 2],
    // MCM starts at 0 and comes to the same in the pass after.
    ["Manual: the one that is missing", inPlace("Manual", 2, 0), 0, 1],
  ])("give a new set, with %s", (_, change, current, expected) => {
    const sets = [
      { name: "old", spec: 4, existing: 4, available: 4 },
      { name: "new", spec: current, existing: current, available: current },
    ];
    expect(newSetReplicas(boundsWith(5, change), current, sets)).toBe(expected);
  });
});
