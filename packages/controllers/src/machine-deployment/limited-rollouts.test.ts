import { annotationKeys, type Machine, type MachineDeployment, phaseOf } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeleting } from "../model/phase.ts";
import { begunRollout, ofClass, sized, edit } from "../testing/begun-rollout.ts";
import { aMachineDeployment, annotated, beingDeleted, type Change } from "../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../testing/rollout-model.ts";
import { type Interference, reconcileAll, settle, transcribe } from "../testing/rollout-transcript.ts";

const { canarySteps, onDelete, maintenanceWindows, honorMinReadySeconds } = annotationKeys;

const begun = (...changes: readonly Change<MachineDeployment>[]): RolloutModel => begunRollout({}, ...changes);

describe("a rollout on deletion", () => {
  it("replaces exactly the machines that a user deletes", () => {
    const model = begun(annotated({ [onDelete]: "true" }));
    const remove: Interference = (it) => {
      const victim = it.machines().find((each) => each.spec.class?.name === "small" && !isDeleting(each));
      it.changeMachine(victim?.metadata.name ?? "", beingDeleted());
      return "a user deletes one";
    };
    expect(transcribe(model, { at: { 5: remove, 15: remove, 25: remove } })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      * a user deletes one
      Scaled down small to 2; Scaled up big to 1; +1 big => small 2 (2 serve, 1 go), big 1 (0 serve)
      - => small 2 (2 serve), big 1 (1 serve)
      * a user deletes one
      Scaled down small to 1; Scaled up big to 2; +1 big => small 1 (1 serve, 1 go), big 2 (1 serve)
      - => small 1 (1 serve), big 2 (2 serve)
      * a user deletes one
      Scaled down small to 0; Scaled up big to 3; +1 big => small 0 (0 serve, 1 go), big 3 (2 serve)
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
    expect(model.machines().every((machine) => phaseOf(machine) === "Running")).toBe(true);
  });

  it("grows in the new template at once, and shrinks", () => {
    const model = begun(annotated({ [onDelete]: "true" }));
    const at = { 5: edit("a user wants 6", sized(6)), 15: edit("a user wants 3", sized(3)) };
    expect(transcribe(model, { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      * a user wants 6
      Scaled up big to 3; +3 big => small 3 (3 serve), big 3 (0 serve)
      - => small 3 (3 serve), big 3 (3 serve)
      * a user wants 3
      Scaled down small to 0; -1 small; -1 small; -1 small => small 0 (0 serve, 3 go), big 3 (3 serve)
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });

  it("ends a replacement that had begun before", () => {
    const model = begun();
    const at = { 2: edit("a user wants to do it", annotated({ [onDelete]: "true" })) };
    expect(transcribe(model, { at })).toContain("end: small 2 (2 serve), big 1 (1 serve)");
  });

  it("takes its hand off the old sets when it is over", () => {
    const model = begun(annotated({ [onDelete]: "true" }));
    const at = { 5: edit("never mind", { metadata: { annotations: { [onDelete]: null } } }) };
    expect(transcribe(model, { at })).toContain("end: small 0 (0 serve), big 3 (3 serve)");
  });
});

describe("a rollout in maintenance windows", () => {
  // The model begins at 2026-01-01T00:00:00Z.
  it("begins when one opens, and ends what it has begun when it closes", () => {
    const model = begun(sized(20), annotated({ [maintenanceWindows]: "1 0 * * * 1m" }));
    const lines = transcribe(model, { rounds: 80 }).split("\n");
    expect([lines[0], lines[1], ...lines.slice(-6)].join("\n")).toMatchInlineSnapshot(`
      "- => small 20 (20 serve), big 0 (0 serve)
      Scaled up big to 1; +1 big => small 20 (20 serve), big 1 (0 serve)
      Scaled down small to 11; -1 small => small 11 (11 serve, 1 go), big 9 (9 serve)
      Scaled up big to 10; +1 big => small 11 (11 serve), big 10 (9 serve)
      Scaled down small to 10; -1 small => small 10 (10 serve, 1 go), big 10 (10 serve)
      - => small 10 (10 serve), big 10 (10 serve)
      MachineSetUpdated: MachineSet "big" waits: Rollout waits for the maintenance window that opens at 2026-01-02T00:01:00Z
      end: small 10 (10 serve), big 10 (10 serve)"
    `);
  });

  it("leaves none missing where there is no surge", () => {
    const none: Change<MachineDeployment> = {
      spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } } },
    };
    const model = begun(sized(30), none, annotated({ [maintenanceWindows]: "1 0 * * * 1m" }));
    const transcript = transcribe(model, { rounds: 80 });
    const [, old = "0", current = "0"] = /end: small (\d+) .*big (\d+)/.exec(transcript) ?? [];
    expect(Number(old)).toBeGreaterThan(0);
    expect(Number(current)).toBeGreaterThan(0);
    expect(Number(old) + Number(current)).toBe(30);
  });

  it("holds the other strategies too", () => {
    const recreate: Change<MachineDeployment> = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };
    const model = begun(recreate, annotated({ [maintenanceWindows]: "1 0 * * * 1m" }));
    expect(transcribe(model, { rounds: 10 })).toContain("end: small 3 (3 serve)");
    expect(transcribe(model)).toContain("end: small 0 (0 serve), big 3 (3 serve)");
  });

  it("brings a deployment to its size at any time", () => {
    const model = createRolloutModel(aMachineDeployment(annotated({ [maintenanceWindows]: "0 5 * * * 1m" })));
    expect(transcribe(model)).toContain("end: small 3 (3 serve)");
    model.change(ofClass("big"));
    expect(transcribe(model, { at: { 3: edit("more", sized(5)) } })).toContain(
      "end: small 5 (5 serve), big 0 (0 serve)",
    );
  });
});

it.each([
  ["at a pause", { [canarySteps]: "1/pause" }],
  ["with replacement on deletion only", { [onDelete]: "true" }],
  ["outside of windows", { [maintenanceWindows]: "0 5 * * * 1m" }],
])("makes no machine for a scaling %s that it would delete again", (_, asked) => {
  const model = begun(sized(4));
  transcribe(model, { rounds: 3 });
  model.change(annotated(asked));
  settle(model);
  const made = transcribe(model, { at: { 0: edit("a user wants 6", sized(6)) } });
  expect(made.match(/\+\d+ \w+/g)).toEqual([expect.stringContaining("+2 ")]);
  expect(made).not.toContain("Scaled down");
});

describe("minReadySeconds", () => {
  const slow: Change<MachineDeployment> = { spec: { minReadySeconds: 30 } };
  const roundsOf = (model: RolloutModel): number => transcribe(model, { rounds: 90 }).split("\n").length;

  it("makes a machine count only after its time, where that is asked for", () => {
    const model = begun(slow, annotated({ [honorMinReadySeconds]: "true" }));
    expect(transcribe(model, { rounds: 10 })).toContain("end: small 3 (3 serve), big 1 (1 serve)");
    expect(model.deployment().status?.availableReplicas).toBe(3);
    expect(transcribe(model)).toContain("end: small 0 (0 serve), big 3 (3 serve)");
  });

  it("keeps the machines that count: one that flaps is deleted first, and not the oldest", () => {
    const model = createRolloutModel(aMachineDeployment(slow, annotated({ [honorMinReadySeconds]: "true" })));
    settle(model);
    const flapping = model.machines().at(-1)?.metadata.name;
    model.change(ofClass("big"));
    const deleted = (): Machine | undefined => model.machines().find((machine) => isDeleting(machine));
    for (let round = 0; round < 60 && deleted() === undefined; round++) {
      for (const machine of model.machines())
        model.setPhase(machine, machine.metadata.name === flapping && round % 3 === 0 ? "Unknown" : "Running");
      reconcileAll(model);
    }
    expect(deleted()?.metadata.name).toBe(flapping);
  });

  it("is nothing where it is not", () => {
    expect(roundsOf(begun(slow))).toBe(roundsOf(begun()));
  });
});

it("keeps every promise under any mix of limits, and comes to its end when they are taken away", () => {
  const options = fc.record({
    replicas: fc.integer({ min: 1, max: 9 }),
    surge: fc.integer({ min: 0, max: 3 }),
    unavailable: fc.integer({ min: 0, max: 3 }),
    asked: fc.constantFrom(
      { [canarySteps]: "1/9s,50%/pause" },
      { [canarySteps]: "20%/3s,40%/6s" },
      { [onDelete]: "true" },
      { [maintenanceWindows]: "*/2 * * * * 1m" },
      { [maintenanceWindows]: "0 5 * * * 1h", [canarySteps]: "2/3s" },
      { [honorMinReadySeconds]: "true" },
    ),
    // What the world does in each round: which machines go on.
    world: fc.array(fc.nat({ max: 255 }), { minLength: 10, maxLength: 30 }),
    resize: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(options, ({ replicas, surge, unavailable, asked, world, resize }) => {
      fc.pre(surge + unavailable > 0);
      const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
      const model = begun(
        sized(replicas),
        { spec: { minReadySeconds: 9, strategy: { rollingUpdate } } },
        annotated(asked),
      );
      for (const [round, bits] of world.entries()) {
        if (round === 5 && resize !== undefined) model.change(sized(resize));
        model.decideDeployment();
        model.decideSets();
        const wanted = model.deployment().spec.replicas ?? 0;
        const total = model.sets().reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
        expect(total).toBeLessThanOrEqual(Math.max(wanted, round < 5 ? wanted : replicas) + surge);
        const serving = model.machines().filter((each) => phaseOf(each) === "Running" && !isDeleting(each)).length;
        // Another size deletes what it does not need, whatever the others do.
        expect(serving).toBeGreaterThanOrEqual(resize === undefined ? replicas - Math.min(unavailable, replicas) : 0);
        for (const [index, machine] of model.machines().entries()) {
          if (((bits >> (index % 8)) & 1) === 0) continue;
          if (isDeleting(machine)) model.finishDeletion(machine);
          else model.setPhase(machine, "Running");
        }
      }
      model.change({
        metadata: {
          annotations: {
            [canarySteps]: null,
            [onDelete]: null,
            [maintenanceWindows]: null,
            [honorMinReadySeconds]: null,
          },
        },
      });
      settle(model);
      const left = model.machines().map(({ spec }) => spec.class?.name);
      expect(left).toEqual(Array(model.deployment().spec.replicas ?? 0).fill("big"));
    }),
    { numRuns: 60 },
  );
});
