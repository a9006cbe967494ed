import { annotationKeys, type MachineDeployment, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { isDeleting } from "../model/phase.ts";
import { edit, ofClass, sized } from "../testing/begun-rollout.ts";
import { aMachineDeployment, annotated, type Change } from "../testing/builders.ts";
import { createRolloutModel, type RolloutModel } from "../testing/rollout-model.ts";
import {
  breaking,
  goWell,
  type Interference,
  reconcileAll,
  settle,
  transcribe,
} from "../testing/rollout-transcript.ts";
import { recordedRollout } from "../model/rollout.ts";

const { canarySteps, canaryContinue, canaryOnFailure, rollout } = annotationKeys;

/** Six machines of class `small` which serve, under a deployment with these changes. */
const serving = (...changes: readonly Change<MachineDeployment>[]): RolloutModel => {
  const model = createRolloutModel(aMachineDeployment(sized(6), ...changes));
  settle(model);
  return model;
};

const steps = (text: string): Change<MachineDeployment> => annotated({ [canarySteps]: text });
const classesOf = (model: RolloutModel): readonly string[] =>
  model
    .machines()
    .map(({ spec }) => spec.class?.name ?? "")
    .toSorted();
const six = (name: string): readonly string[] => Array(6).fill(name);
const to = (model: RolloutModel, name: string): void => {
  model.change(ofClass(name));
  settle(model);
};
/** A user ends the pauses of the rollout under way, up to a step. */
const continueAfter = (model: RolloutModel, step: number): void => {
  const { annotations = {} } = model.deployment().metadata;
  model.change(annotated({ [canaryContinue]: `${annotations[annotationKeys.revision]}/${step}` }));
};
const messageOf = (model: RolloutModel): string =>
  model.deployment().status?.conditions?.find(({ type }) => type === "Progressing")?.message ?? "";

describe("a second canary of the same template", () => {
  /** `small` served, `big` served, `small` serves, and `big` is tried again. */
  const triedAgain = (...changes: readonly Change<MachineDeployment>[]): RolloutModel => {
    const model = serving();
    to(model, "big");
    to(model, "small");
    for (const change of [steps("1/pause,3/1h"), ...changes]) model.change(change);
    to(model, "big");
    return model;
  };

  it("is left at once when the template goes back", () => {
    const model = triedAgain();
    expect(classesOf(model)).toEqual(["big", ...Array(5).fill("small")]);
    expect(transcribe(model, { at: { 0: edit("a user goes back", ofClass("small")) } })).toMatchInlineSnapshot(`
      "* a user goes back
      Scaled up small to 6; +1 small => small 6 (5 serve), big 1 (1 serve)
      Scaled down big to 0; -1 big => small 6 (6 serve), big 0 (0 serve, 1 go)
      - => small 6 (6 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 6 (6 serve), big 0 (0 serve)"
    `);
  });

  it("gives what a scaling adds to the template that served", () => {
    const model = triedAgain();
    model.change(sized(9));
    settle(model);
    expect(classesOf(model)).toEqual(["big", ...Array(8).fill("small")]);
  });

  it("is not what the deployment is rolled back to when an old machine fails", () => {
    const model = triedAgain(annotated({ [canaryOnFailure]: "rollback" }));
    model.change(ofClass("small"));
    const failOne: Interference = (it) => {
      const victim = it.machines().find((each) => each.spec.class?.name === "small" && !isDeleting(each));
      if (victim !== undefined) it.setPhase(victim, "Failed");
      return "an old machine fails";
    };
    expect(transcribe(model, { at: { 1: failOne } })).toContain("end: small 6 (6 serve), big 0 (0 serve)");
    expect(model.deployment().spec.template.spec.class?.name).toBe("small");
  });

  it("pauses again, whatever was answered in the first", () => {
    const model = serving(steps("1/pause,3/pause"));
    to(model, "big");
    continueAfter(model, 1);
    settle(model);
    expect(classesOf(model).filter((name) => name === "big")).toHaveLength(3);
    const answer = model.deployment().metadata.annotations?.[canaryContinue] ?? "";
    to(model, "small");
    expect(classesOf(model)).toEqual(six("small"));
    // The end of a rollout takes its record and the answer away; a manifest may bring the answer back.
    expect(model.deployment().metadata.annotations).not.toHaveProperty([canaryContinue]);
    expect(model.deployment().metadata.annotations).not.toHaveProperty([rollout]);
    model.change(annotated({ [canaryContinue]: answer }));
    to(model, "big");
    expect(classesOf(model)).toEqual(["big", ...Array(5).fill("small")]);
    expect(messageOf(model)).toMatch(
      /canary-continue=4\/1; Annotation \S+=2\/1 has no effect: it is about another rollout, this one has revision 4$/,
    );
    continueAfter(model, 2);
    settle(model);
    expect(classesOf(model)).toEqual(six("big"));
  });

  it("takes the name of a set for no answer", () => {
    const model = serving(steps("1/pause"));
    to(model, "big");
    const [, set] = model.sets();
    model.change(annotated({ [canaryContinue]: `${set?.metadata.name}/1` }));
    settle(model);
    expect(classesOf(model)).toEqual(["big", ...Array(5).fill("small")]);
    expect(messageOf(model)).toContain("has no effect");
  });
});

describe("a canary that is corrected before it is proven", () => {
  it("goes back to the template that served when the correction fails", () => {
    const model = serving(steps("1/1h"), annotated({ [canaryOnFailure]: "rollback" }));
    to(model, "big");
    model.change(ofClass("huge"));
    transcribe(model, { live: breaking("huge") });
    settle(model);
    expect(classesOf(model)).toEqual(six("small"));
  });

  it("does the same by a rollback to revision 0", () => {
    const model = serving(steps("1/1h"));
    to(model, "big");
    to(model, "huge");
    model.change({ spec: { rollbackTo: { revision: 0 } } });
    settle(model);
    expect(classesOf(model)).toEqual(six("small"));
  });

  it.each([
    ["with surge", { maxSurge: 1, maxUnavailable: 0 }],
    ["with much surge", { maxSurge: "50%", maxUnavailable: 0 }],
    ["without surge", { maxSurge: 0, maxUnavailable: 1 }],
  ])("leaves five of the old template and the newest canary, %s", (_, rollingUpdate) => {
    const model = serving(steps("1/1h"), { spec: { strategy: { rollingUpdate } } });
    for (const name of ["a", "b", "c", "d", "e"]) {
      model.change(ofClass(name));
      for (let round = 0; round < 4; round++) {
        reconcileAll(model);
        goWell(model);
      }
    }
    settle(model);
    expect(classesOf(model)).toEqual(["e", ...Array(5).fill("small")]);
  });

  it("does not grow when the deployment does", () => {
    const model = serving(steps("1/1h"));
    model.change(ofClass("big"));
    for (let round = 0; round < 4; round++) {
      reconcileAll(model);
      goWell(model);
    }
    model.change(ofClass("huge"));
    reconcileAll(model);
    model.change(sized(9));
    const never = (it: RolloutModel): void => {
      for (const machine of it.machines()) {
        if (isDeleting(machine)) it.finishDeletion(machine);
        else if (machine.spec.class?.name !== "huge") it.setPhase(machine, "Running");
      }
    };
    // It is the ninth that serves, until the new canary does.
    expect(transcribe(model, { live: never })).toContain("end: small 8 (8 serve), big 1 (1 serve), huge 1 (0 serve)");
    settle(model);
    expect(classesOf(model)).toEqual(["huge", ...Array(8).fill("small")]);
    model.change(sized(4));
    settle(model);
    expect(classesOf(model)).toEqual(["huge", ...Array(3).fill("small")]);
  });

  it("is the first to shrink when the deployment does", () => {
    const model = serving(steps("3/1h"), { spec: { strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } } } });
    to(model, "big");
    model.change({ metadata: { annotations: { [canarySteps]: "1/1h" } } });
    model.change(ofClass("huge"));
    model.decideDeployment();
    model.change(sized(3));
    expect(transcribe(model, { rounds: 2 })).toMatch(/=> small 3 \(3 serve\), big 0 /);
  });

  it("is taken over by the old template where that has lost machines, too", () => {
    const model = serving(steps("1/1h"));
    to(model, "big");
    model.change(ofClass("huge"));
    const failing = (it: RolloutModel): void => {
      goWell(it);
      const first = it.machines().find((each) => each.spec.class?.name === "small" && phaseOf(each) === "Running");
      if (first !== undefined) it.setPhase(first, "Unknown");
    };
    transcribe(model, { live: failing, rounds: 20 });
    settle(model);
    expect(classesOf(model)).toEqual(["huge", ...Array(5).fill("small")]);
  });
});

describe("a pool that was scaled down during a canary", () => {
  it.each([0, 1])("to %d machines has no more of it than its step when it grows again", (few) => {
    const model = serving(steps("1/pause"));
    to(model, "big");
    model.change(sized(few));
    settle(model);
    model.change(sized(6));
    settle(model);
    expect(classesOf(model)).toEqual(["big", ...Array(5).fill("small")]);
    continueAfter(model, 1);
    settle(model);
    expect(classesOf(model)).toEqual(six("big"));
  });
});

describe("the record of a rollout", () => {
  it("is there from its first write to its end", () => {
    const model = serving();
    expect(recordedRollout(model.deployment())).toBeUndefined();
    model.change(ofClass("big"));
    model.decideDeployment(1);
    expect(model.sets()).toHaveLength(1);
    const [small] = model.sets();
    const begun = recordedRollout(model.deployment());
    expect(begun).toMatchObject({ revision: 2, proven: small?.metadata.name });
    model.decideDeployment();
    expect(begun?.set).toBe(model.sets()[1]?.metadata.name);
    reconcileAll(model);
    expect(recordedRollout(model.deployment())).toEqual(begun);
    settle(model);
    expect(recordedRollout(model.deployment())).toBeUndefined();
  });

  it("has the steps that are passed: then the next rollout starts from this template", () => {
    const model = serving(steps("1/3s"));
    model.change(ofClass("big"));
    for (let round = 0; recordedRollout(model.deployment())?.passed === undefined && round < 20; round++) {
      reconcileAll(model);
      goWell(model);
    }
    expect(recordedRollout(model.deployment())?.passed).toBe("1/3s");
    const big = recordedRollout(model.deployment())?.set;
    model.change(steps("1/1h"));
    model.change(ofClass("huge"));
    reconcileAll(model);
    expect(recordedRollout(model.deployment())).toMatchObject({ proven: big });
  });

  it("starts again from what serves most when it is lost, unreadable, or older than a set", () => {
    for (const text of [
      null,
      "",
      "{",
      "[]",
      "7",
      '{"set":1}',
      '{"set":"a","revision":1,"proven":"b","since":"never"}',
    ]) {
      const model = serving(steps("1/1h"));
      to(model, "big");
      const before = recordedRollout(model.deployment());
      model.change({ metadata: { annotations: { [rollout]: text } } });
      settle(model);
      expect(recordedRollout(model.deployment())).toMatchObject({ ...before, since: expect.any(String) });
      to(model, "small");
      expect(classesOf(model)).toEqual(six("small"));
    }
  });

  it("of another deployment, as in a copied manifest, is dropped", () => {
    const text = JSON.stringify({ set: "a-11111", revision: 3, proven: "a-22222", since: "2026-01-01T00:00:00Z" });
    const model = serving(annotated({ [rollout]: text, [canaryContinue]: "3/1" }), steps("1/pause"));
    expect(model.deployment().metadata.annotations).not.toHaveProperty([rollout]);
    expect(model.deployment().metadata.annotations).not.toHaveProperty([canaryContinue]);
    to(model, "big");
    expect(classesOf(model)).toEqual(["big", ...Array(5).fill("small")]);
  });
});

it("never has more machines than replicas and surge while new machines fail, however slowly their VMs go", () => {
  const model = createRolloutModel(aMachineDeployment(sized(4)));
  settle(model);
  model.change(ofClass("big"));
  for (let round = 0; round < 60; round++) {
    reconcileAll(model);
    expect(model.machines().length).toBeLessThanOrEqual(5);
    for (const machine of model.machines()) {
      if (isDeleting(machine)) {
        if (round % 7 === 6) model.finishDeletion(machine);
      } else if (machine.spec.class?.name === "big") model.setPhase(machine, "Failed");
    }
  }
  settle(model);
  expect(classesOf(model)).toEqual(Array(4).fill("big"));
});
