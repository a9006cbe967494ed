import {
  annotationKeys,
  inPlaceUpdateReasons,
  labelKeys,
  type MachineDeployment,
  phaseOf,
  resolveFenceposts,
  taintKeys,
} from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { inPlaceReasonOf } from "../../model/in-place-state.ts";
import { isAvailable, isDeleting } from "../../model/phase.ts";
import { ofClass } from "../../testing/begun-rollout.ts";
import { aMachineDeployment, type Change } from "../../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../../testing/rollout-model.ts";
import { classOf, goWell, report, settle } from "../../testing/rollout-transcript.ts";

const strategies = fc.record({
  type: fc.constantFrom("InPlaceUpdate", "InPlaceUpdate", "InPlaceUpdate", "RollingUpdate", "Recreate"),
  maxSurge: fc.nat(2),
  maxUnavailable: fc.integer({ min: 0, max: 2 }),
  orchestrationType: fc.constantFrom("Auto", "Auto", "Manual"),
});
type Strategy = typeof strategies extends fc.Arbitrary<infer T> ? T : never;

const strategyOf = ({ type, maxSurge, maxUnavailable, orchestrationType }: Strategy): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type,
      rollingUpdate: type === "RollingUpdate" ? { maxSurge, maxUnavailable } : null,
      inPlaceUpdate: type === "InPlaceUpdate" ? { maxSurge, maxUnavailable, orchestrationType } : null,
    },
  },
});

/** What may happen between two reconciles, to a machine or node that `which` draws. */
const event = fc.record({
  what: fc.constantFrom(
    "deployment",
    "deployment",
    "killed deployment",
    "sets",
    "machines",
    "agent",
    "agent fails",
    "runs",
    "ends",
    "sees",
  ),
  which: fc.nat(20),
});

const pick = <T>(from: readonly T[], which: number): T | undefined => from[which % Math.max(1, from.length)];

function happen(model: RolloutModel, { what, which }: { what: string; which: number }, canFail: boolean): void {
  switch (what) {
    case "deployment":
      return void model.decideDeployment();
    case "killed deployment":
      return void model.decideDeployment(which % 3);
    case "sets":
      return void model.decideSets();
    case "machines":
      return model.decideMachines();
    case "sees":
      return model.nodes.catchUp();
    case "agent":
    case "agent fails": {
      const ready = model.nodes.all().filter((node) => inPlaceReasonOf(node) === inPlaceUpdateReasons.readyForUpdate);
      const node = pick(ready, which);
      if (node !== undefined) report(model, node, what === "agent fails" && canFail ? "failed" : "successful");
      return;
    }
    case "runs": {
      const starting = model
        .machines()
        .filter((machine) => ["Pending", "InPlaceUpdateSuccessful"].includes(phaseOf(machine) ?? ""));
      const machine = pick(
        starting.filter((each) => !isDeleting(each)),
        which,
      );
      if (machine !== undefined) model.setPhase(machine, "Running");
      return;
    }
    case "ends": {
      const machine = pick(
        model.machines().filter((each) => isDeleting(each)),
        which,
      );
      if (machine !== undefined) model.finishDeletion(machine);
      return;
    }
  }
}

/** What is left of an update on a node. */
const marksOf = ({ metadata, spec }: Node): readonly string[] => [
  ...[labelKeys.candidateForUpdate, labelKeys.selectedForUpdate, labelKeys.updateResult].filter(
    (key) => metadata.labels?.[key] !== undefined,
  ),
  ...[
    annotationKeys.inPlaceUpdate,
    annotationKeys.updateFailedReason,
    annotationKeys.scaleDownDisabledByController,
  ].filter((key) => metadata.annotations?.[key] !== undefined),
  ...(spec?.taints ?? []).map(({ key }) => key).filter((key) => key === taintKeys.preferNoSchedule),
];

/** In the end everything goes well: people select what waits, agents succeed, and who failed is given up. */
function liveWell(model: RolloutModel): void {
  for (const machine of model.machines())
    if (phaseOf(machine) === "InPlaceUpdateFailed" && !isDeleting(machine)) model.setPhase(machine, "Failed");
  for (const machine of model.machines()) if (phaseOf(machine) === "Failed" && !isDeleting(machine)) model.decideSets();
  const { strategy } = model.deployment().spec;
  const isManual = strategy?.type === "InPlaceUpdate" && strategy.inPlaceUpdate?.orchestrationType === "Manual";
  for (const { metadata } of isManual ? model.nodes.all() : []) {
    if (metadata.labels?.[labelKeys.candidateForUpdate] === undefined) continue;
    if (metadata.labels[labelKeys.selectedForUpdate] !== undefined) continue;
    model.nodes.changeUnseen(metadata.name, { metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } });
  }
  const failed = new Set(
    model
      .machines()
      .filter((each) => phaseOf(each) === "Failed")
      .map(({ metadata }) => metadata.name),
  );
  goWell(model);
  for (const machine of model.machines())
    if (failed.has(machine.metadata.name) && !isDeleting(machine)) model.setPhase(machine, "Failed");
}

const steps = fc.array(
  fc.record({
    template: fc.constantFrom("a", "b", "c"),
    replicas: fc.integer({ min: 1, max: 4 }),
    strategy: strategies,
    events: fc.array(event, { maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 4 },
);

it("keeps its promise of service and of size at every moment, also with late and interrupted reads", () => {
  const scenario = fc.record({
    replicas: fc.integer({ min: 1, max: 5 }),
    maxSurge: fc.nat(2),
    maxUnavailable: fc.nat(2),
    events: fc.array(event, { minLength: 20, maxLength: 150 }),
  });
  fc.assert(
    fc.property(scenario, ({ replicas, maxSurge, maxUnavailable, events }) => {
      const strategy = strategyOf({ type: "InPlaceUpdate", maxSurge, maxUnavailable, orchestrationType: "Auto" });
      const model = createRolloutModel(aMachineDeployment(strategy, { spec: { replicas } }), { hasNodes: true });
      settle(model);
      const bounds = resolveFenceposts({ replicas, maxSurge, maxUnavailable });
      const first = new Set(model.machines().map(({ metadata }) => metadata.name));
      model.change(ofClass("big"));
      for (const each of events) {
        happen(model, each, false);
        const staying = model.machines().filter((machine) => !isDeleting(machine));
        expect(model.machines().length).toBeLessThanOrEqual(replicas + bounds.maxSurge);
        // An updated machine serves again as soon as its phase is Running.
        const serving = staying.filter(
          (machine) => isAvailable(machine) || phaseOf(machine) === "InPlaceUpdateSuccessful",
        );
        expect(serving.length).toBeGreaterThanOrEqual(replicas - bounds.maxUnavailable);
      }
      settle(model, liveWell);
      expect(model.machines().map(({ spec }) => spec.class?.name)).toEqual(
        Array.from({ length: replicas }, () => "big"),
      );
      expect(model.nodes.all().flatMap(marksOf)).toEqual([]);
      const kept = model.machines().filter(({ metadata }) => first.has(metadata.name)).length;
      expect(kept).toBeGreaterThanOrEqual(replicas - bounds.maxSurge);
    }),
    { numRuns: 60 },
  );
});

it("comes to rest, and leaves no mark behind, whatever template, size and strategy are wanted on the way and whatever fails", () => {
  fc.assert(
    fc.property(steps, strategies, fc.nat(20), (changes, initial, cordoned) => {
      const model = createRolloutModel(aMachineDeployment(strategyOf(initial)), { hasNodes: true });
      settle(model);
      const theirs = pick(model.nodes.all(), cordoned)?.metadata.name ?? "";
      model.nodes.changeUnseen(theirs, { spec: { unschedulable: true } });
      model.nodes.catchUp();
      for (const { template, replicas, strategy, events } of changes) {
        model.change(ofClass(template));
        model.change({ spec: { replicas } });
        model.change(strategyOf(strategy));
        for (const each of events) happen(model, each, true);
      }
      settle(model, liveWell);
      const { template = "", replicas = 0 } = changes.at(-1) ?? {};
      const names = model.machines().map(({ spec }) => spec.class?.name);
      expect(names).toEqual(Array.from({ length: replicas }, () => template));
      expect(model.nodes.all().flatMap(marksOf)).toEqual([]);
      const unschedulable = model.nodes.all().filter(({ spec }) => spec?.unschedulable === true);
      expect(unschedulable.map(({ metadata }) => metadata.name).filter((name) => name !== theirs)).toEqual([]);
      // What a user cordoned stays so as long as it lives.
      const isThere = model.nodes.all().some(({ metadata }) => metadata.name === theirs);
      expect(unschedulable.some(({ metadata }) => metadata.name === theirs)).toBe(isThere);
      expect(
        model.machines().filter(({ metadata }) => metadata.labels?.[labelKeys.updateResult] !== undefined),
      ).toEqual([]);
      for (const { metadata, spec } of model.sets()) {
        const isNew = classOf(model, metadata.name) === template;
        expect(spec.replicas).toBe(isNew ? replicas : 0);
        expect(isNew && metadata.labels?.[labelKeys.scaleUpDisabled] !== undefined).toBe(false);
      }
      const progress = model.deployment().status?.conditions?.find(({ type }) => type === "Progressing");
      expect(progress?.reason).toBe("NewMachineSetAvailable");
    }),
    { numRuns: 80 },
  );
});
