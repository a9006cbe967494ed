import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  aNode,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "@millwright/controllers/testing";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { createModelBudget } from "./model-budget.ts";
import { createModelCluster } from "./model-cluster.ts";
import { type Simulation, simulate } from "./simulate.ts";

/** A rolling update of so many machines, played through. */
function play(replicas: number, change: Change<MachineDeployment> = {}): Simulation {
  const deployment = aMachineDeployment(change, {
    spec: { replicas, template: { spec: { class: { name: "big" } } } },
  });
  const noted = annotated({ [annotationKeys.desiredReplicas]: String(replicas) });
  const set = aMachineSet(named("old"), ownedBy(deployment), noted, { spec: { replicas } });
  const names = Array.from({ length: replicas }, (_, index) => `old-${index}`);
  const cluster = createModelCluster({
    deployments: [deployment],
    sets: [set],
    machines: names.map((name) => aMachine(named(name), ownedBy(set), inPhase("Running"), labeled({ node: name }))),
    nodes: names.map((name) => aNode({ metadata: { name } })),
  });
  return simulate(cluster, {
    budget: createModelBudget(cluster, { inService: 0, requested: 0 }, 0.5),
    start: new Date("2026-03-01T12:00:00Z"),
    durations: { joinMs: 60_000, deletionMs: 60_000, finishedJoins: 0, finishedDeletions: 0 },
    disablesScaleDown: true,
    isRealNode: () => true,
    countNow: () => ({ current: 0, old: 0, terminating: 0, available: cluster.machines.size }),
    isStable: () => false,
  });
}

describe("simulate", () => {
  it.each([10, 40])(
    "asks the controllers a few times for each of %s machines, and not for what nothing has changed",
    (replicas) => {
      const { steps, decisions } = play(replicas);
      // A machine joins, a machine leaves: two moments each.
      expect(steps).toHaveLength(2 * replicas);
      // In each both controllers decide, and again about the result.
      expect(decisions).toBeLessThanOrEqual(6 * 2 * replicas + 10);
    },
  );

  it("takes as few moments as machines may be replaced at once", () => {
    const { steps, decisions } = play(40, { spec: { strategy: { rollingUpdate: { maxSurge: "50%" } } } });
    expect(steps.length).toBeLessThanOrEqual(6);
    expect(decisions).toBeLessThanOrEqual(6 * 6 + 10);
  });
});
