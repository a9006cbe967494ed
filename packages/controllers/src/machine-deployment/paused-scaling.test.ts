import { annotationKeys, labelKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { isDeleting } from "../model/phase.ts";
import { begunRollout, edit, ofClass, sized } from "../testing/begun-rollout.ts";
import { annotated, beingDeleted, type Change } from "../testing/builders.ts";
import type { RolloutModel } from "../testing/rollout-model.ts";
import { changeDeployment, live, withDeployment } from "../testing/running-deployment.ts";
import { reconcileAll, report, settle, transcribe } from "../testing/rollout-transcript.ts";

const { onDelete, maintenanceWindows } = annotationKeys;
const paused: Change<MachineDeployment> = { spec: { paused: true } };
const replacedOnDeletion = annotated({ [onDelete]: "true" });
const inPlace: Change<MachineDeployment> = {
  spec: {
    strategy: {
      type: "InPlaceUpdate",
      rollingUpdate: null,
      inPlaceUpdate: { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Manual" },
    },
  },
};

const ofClassIn = (model: RolloutModel, name: string) =>
  model.machines().filter((machine) => machine.spec.class?.name === name && !isDeleting(machine));

/** The machine fails, and its set deletes it. */
const fail = (name: string) => (model: RolloutModel) => {
  const [machine] = ofClassIn(model, name);
  if (machine !== undefined) model.setPhase(machine, "Failed");
  return `one of ${name} fails`;
};
const remove = (name: string) => (model: RolloutModel) => {
  model.changeMachine(ofClassIn(model, name)[0]?.metadata.name ?? "", beingDeleted());
  return `a user deletes one of ${name}`;
};

/** A rollout that waits, with three machines of the old template. */
function waiting(...changes: readonly Change<MachineDeployment>[]): RolloutModel {
  const model = begunRollout({ hasNodes: true }, ...changes);
  settle(model);
  return model;
}

const last = (transcript: string): string | undefined => transcript.split("\n").at(-1)?.split(" |")[0];

describe("while paused", () => {
  it.each([
    ["replaces on deletion", replacedOnDeletion],
    ["updates in place", inPlace],
  ])("a deployment that %s grows in the old template, and shrinks", (_, change) => {
    const model = waiting(change);
    model.change(paused);
    model.change(sized(6));
    expect(last(transcribe(model))).toBe("end: small 6 (6 serve), big 0 (0 serve)");
    model.change(sized(2));
    expect(last(transcribe(model))).toBe("end: small 2 (2 serve), big 0 (0 serve)");
  });

  it("grows the set that is current again after a change back of the template", () => {
    const model = waiting(inPlace);
    model.change(paused);
    model.change(ofClass("small"));
    model.change(sized(6));
    expect(last(transcribe(model))).toBe("end: small 6 (6 serve), big 0 (0 serve)");
  });

  it("replaces Failed machines in the old template, also the last one", () => {
    const model = waiting(replacedOnDeletion);
    model.change(paused);
    expect(last(transcribe(model, { at: { 0: fail("small") } }))).toBe("end: small 3 (3 serve), big 0 (0 serve)");
    model.change(sized(1));
    settle(model);
    model.change({ spec: { paused: false } });
    settle(model);
    model.change(paused);
    expect(last(transcribe(model, { at: { 0: fail("small") } }))).toBe("end: small 1 (1 serve), big 0 (0 serve)");
  });

  it("replaces what the old set loses in the current one, if that has machines", () => {
    const model = waiting(replacedOnDeletion);
    expect(last(transcribe(model, { at: { 0: remove("small") } }))).toBe("end: small 2 (2 serve), big 1 (1 serve)");
    model.change(paused);
    expect(last(transcribe(model, { at: { 0: fail("small") } }))).toBe("end: small 1 (1 serve), big 2 (2 serve)");
    expect(last(transcribe(model, { at: { 0: fail("big") } }))).toBe("end: small 1 (1 serve), big 2 (2 serve)");
  });

  it("creates no surge", () => {
    const model = begunRollout({}, sized(5));
    const pause = edit("a user pauses", paused);
    expect(last(transcribe(model, { at: { 4: pause } }))).toMatch(/^end: small [34] .*, big [12] /);
    const before = model.machines().length;
    transcribe(model);
    expect(model.machines()).toHaveLength(before);
  });
});

it("grows in the old template with invalid options, although that is replaced on deletion only", async () => {
  const cluster = await withDeployment(replacedOnDeletion);
  await live(cluster);
  await changeDeployment(cluster, ofClass("big"));
  await changeDeployment(cluster, annotated({ [maintenanceWindows]: "typo" }));
  await changeDeployment(cluster, sized(5));
  await cluster.settle(10_000);
  await live(cluster);
  expect(cluster.machines().map(({ spec, status }) => [spec.class?.name, status?.currentStatus?.phase])).toEqual(
    Array.from({ length: 5 }, () => ["small", "Running"]),
  );
});

it("replaces no machine that moves to the new set after a pause: the old set is marked first", () => {
  const model = waiting(inPlace);
  const [node] = model.nodes.all();
  model.nodes.patch(node?.metadata.name ?? "", { metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } });
  for (let round = 0; round < 10; round++) reconcileAll(model);
  model.change(paused);
  model.change(sized(4));
  settle(model, () => undefined);
  if (node !== undefined) report(model, node, "successful");
  model.nodes.catchUp();
  settle(model, () => undefined);

  model.change({ spec: { paused: false } });
  const oldSet = () => model.sets()[0];
  const owned = () =>
    model
      .machines()
      .filter(
        ({ metadata }) =>
          metadata.labels?.["machine-template-hash"] === oldSet()?.metadata.labels?.["machine-template-hash"],
      );
  expect(oldSet()?.metadata.labels).not.toHaveProperty(labelKeys.scaleUpDisabled);
  const before = owned().length;
  model.decideDeployment();
  expect(oldSet()?.metadata.labels).toHaveProperty(labelKeys.scaleUpDisabled);
  expect(owned()).toHaveLength(before);
  model.decideDeployment();
  expect(owned()).toHaveLength(before - 1);
});
