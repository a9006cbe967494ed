import type { MachineDeployment } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, type Change } from "../testing/builders.ts";
import { defaultOvershootMargins, overshootLimits } from "./overshoot-limits.ts";

const strategy = (change: object): Change<MachineDeployment> => ({ spec: { strategy: change } });

it.each<[string, Change<MachineDeployment> | undefined, number, number]>([
  ["twice the replicas of a set of its own", undefined, 8, 7],
  ["replicas and surge of the deployment", {}, 6, 5],
  ["a surge in percent, rounded up", strategy({ rollingUpdate: { maxSurge: "50%" } }), 7, 6],
  [
    "the surge of an update in place",
    strategy({ type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Auto", maxSurge: 2, maxUnavailable: 0 } }),
    7,
    6,
  ],
  ["no surge where the strategy has none", strategy({ type: "Recreate", rollingUpdate: null }), 5, 4],
  ["no surge where there is no strategy", { spec: { strategy: null } }, 5, 4],
  ["the size of the deployment and not of the set", { spec: { replicas: 10 } }, 13, 12],
  ["nothing but the margin where none is wanted", { spec: { replicas: null } }, 3, 2],
])("allows for %s", (_, change, upper, lower) => {
  const deployment = change === undefined ? undefined : aMachineDeployment(change);
  expect(overshootLimits(aMachineSet(), deployment, defaultOvershootMargins)).toEqual({ upper, lower });
});

it("takes a set without replicas for one of none", () => {
  const set = aMachineSet({ spec: { replicas: null } });
  expect(overshootLimits(set, undefined, { up: 5, down: 3 })).toEqual({ upper: 5, lower: 2 });
});

it("thaws a set at the latest when it has no machines, for any margin", () => {
  expect(overshootLimits(aMachineSet(), undefined, { up: 0, down: 100 })).toEqual({ upper: 6, lower: 0 });
});
