import { annotationKeys, type Machine, type MachineDeployment } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { isDeleting } from "../model/phase.ts";
import { begunRollout, ofClass, sized, edit } from "../testing/begun-rollout.ts";
import { annotated, beingDeleted, type Change } from "../testing/builders.ts";
import type { RolloutModel } from "../testing/rollout-model.ts";
import { breaking, goWell, type Interference, transcribe } from "../testing/rollout-transcript.ts";

const { canarySteps, canaryContinue, canaryOnFailure, canaryFailed, maintenanceWindows } = annotationKeys;
const quick: Change<MachineDeployment> = {
  spec: { strategy: { rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } } },
};

const begun = (...changes: readonly Change<MachineDeployment>[]): RolloutModel => begunRollout({}, ...changes);

/** A user ends the pauses of the rollout under way, up to a step. */
const continueAfter =
  (step: number): Interference =>
  (model) => {
    const { annotations = {} } = model.deployment().metadata;
    model.change(annotated({ [canaryContinue]: `${annotations[annotationKeys.revision]}/${step}` }));
    return "a user continues it";
  };

describe("a rollout in canary steps", () => {
  it("waits at each step for its time, and at a pause for a person", () => {
    const model = begun(sized(8), quick, annotated({ [canarySteps]: "1/15s,50%/pause" }));
    expect(transcribe(model, { at: { 20: continueAfter(2) } })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 8 (8 serve), big 1 (0 serve)
      +1 big => small 8 (8 serve), big 1 (0 serve)
      Scaled down small to 7; -1 small => small 7 (7 serve, 1 go), big 1 (1 serve)
      - => small 7 (7 serve), big 1 (1 serve)
      Scaled up big to 4; +3 big => small 7 (7 serve), big 4 (1 serve)
      Scaled down small to 4; -1 small; -1 small; -1 small => small 4 (4 serve, 3 go), big 4 (4 serve)
      - => small 4 (4 serve), big 4 (4 serve)
      * a user continues it
      Scaled up big to 8; +4 big => small 4 (4 serve), big 8 (4 serve)
      Scaled down small to 0; -1 small; -1 small; -1 small; -1 small => small 0 (0 serve, 4 go), big 8 (8 serve)
      - => small 0 (0 serve), big 8 (8 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 8 (8 serve)"
    `);
  });

  it("reports what it waits for, and the progress deadline does not apply", () => {
    const model = begun(sized(4), { spec: { progressDeadlineSeconds: 20 } }, annotated({ [canarySteps]: "1/pause" }));
    transcribe(model);
    expect(model.deployment().status?.conditions?.find(({ type }) => type === "Progressing")).toMatchObject({
      status: "True",
      message: expect.stringMatching(
        /waits: Rollout is paused at canary step 1 of 1 with 1 new machine: .*canary-continue=2\/1$/,
      ),
    });
    const last = transcribe(model, { at: { 0: continueAfter(1) } });
    expect(last).toContain("NewMachineSetAvailable");
    expect(last).toContain("end: small 0 (0 serve), big 4 (4 serve)");
  });

  it("exceeds its progress deadline when the machines of a step do not become available", () => {
    const model = begun(sized(4), { spec: { progressDeadlineSeconds: 20 } }, annotated({ [canarySteps]: "1/5m" }));
    const never = (it: RolloutModel): void => {
      for (const machine of it.machines()) if (machine.spec.class?.name !== "big") it.setPhase(machine, "Running");
    };
    const isOver = (transcript: string) => transcript.includes("ProgressDeadlineExceeded");
    expect(isOver(transcribe(model, { live: never, rounds: 5 }))).toBe(false);
    expect(isOver(transcribe(model, { live: never }))).toBe(true);
    // When they are available at last, the wait for the step is on purpose again.
    expect(transcribe(model, { rounds: 40 })).toContain(
      "waits: Rollout waits at canary step 1 of 1 with 1 new machine",
    );
  });

  it("waits for a window at the same time, and its progress deadline does not apply then", () => {
    const both = { [canarySteps]: "1/5m", [maintenanceWindows]: "0 5 * * * 1h" };
    const model = begun(sized(4), { spec: { progressDeadlineSeconds: 20 } }, annotated(both));
    expect(transcribe(model)).toContain("waits: Rollout waits for the maintenance window");
  });

  it.each(["3/3s", "3/pause"])("waits until all machines of step %s are available", (step) => {
    const model = begun(sized(8), quick, annotated({ [canarySteps]: step }));
    const one = (it: RolloutModel): void => {
      const first = it.machines().find(({ spec }) => spec.class?.name === "big");
      for (const machine of it.machines()) if (machine.spec.class?.name !== "big") it.setPhase(machine, "Running");
      if (first !== undefined) it.setPhase(first, "Running");
    };
    const transcript = transcribe(model, { live: one, at: { 3: continueAfter(1) } });
    expect(transcript).toMatch(/end: small 7 \(7 serve, 1 go\), big 3 \(1 serve\)$/);
  });

  it("takes no word for a pause of another rollout", () => {
    const model = begun(sized(4), annotated({ [canarySteps]: "1/pause", [canaryContinue]: "pool-other/1" }));
    expect(transcribe(model)).toContain("end: small 3 (3 serve), big 1 (1 serve)");
  });

  it("gives the machines that a scaling adds to the old template", () => {
    const model = begun(sized(4), annotated({ [canarySteps]: "1/pause" }));
    expect(transcribe(model, { at: { 10: edit("a user wants 8", sized(8)) } })).toContain(
      "end: small 7 (7 serve), big 1 (1 serve)",
    );
  });

  it("gives them to the old template also where it has none left", () => {
    const model = begun(sized(2), annotated({ [canarySteps]: "1/1h" }));
    transcribe(model);
    // The last machine of the old template is still going.
    model.change({ metadata: { annotations: { [canarySteps]: null } } });
    const slowly = (it: RolloutModel): void => {
      for (const machine of it.machines()) if (!isDeleting(machine)) it.setPhase(machine, "Running");
    };
    transcribe(model, { live: slowly });
    model.change(annotated({ [canarySteps]: "1/1h" }));
    model.change(sized(4));
    expect(transcribe(model, { live: slowly })).toMatch(/end: small 2 \(2 serve, 1 go\), big 2 \(2 serve\)/);
  });

  it("deletes machines of both templates in proportion when it is scaled down", () => {
    const model = begun(sized(8), quick, annotated({ [canarySteps]: "4/pause" }));
    expect(transcribe(model, { at: { 15: edit("a user wants 6", sized(6)) } })).toContain(
      "end: small 2 (2 serve), big 4 (4 serve)",
    );
  });

  it("stops when a new machine fails, until a user fixes the template", () => {
    const model = begun(sized(4), quick, annotated({ [canarySteps]: "2/15s" }));
    expect(transcribe(model, { live: breaking("big"), rounds: 8 })).toMatchInlineSnapshot(`
      "Scaled up big to 2 => small 4 (4 serve), big 2 (0 serve)
      +2 big => small 4 (4 serve), big 2 (0 serve)
      New machine big of big failed: rollout stopped; -1 big; -1 big => small 4 (4 serve), big 2 (0 serve, 2 go)
      +2 big => small 4 (4 serve), big 2 (0 serve)
      -1 big; -1 big => small 4 (4 serve), big 2 (0 serve, 2 go)
      +2 big => small 4 (4 serve), big 2 (0 serve)
      -1 big; -1 big => small 4 (4 serve), big 2 (0 serve, 2 go)
      +2 big => small 4 (4 serve), big 2 (0 serve)
      MachineSetUpdated: MachineSet "big" waits: Rollout is stopped because new machine big failed: change the template, or remove annotation machine.millwright.dev/canary-failed from MachineSet big
      end: small 4 (4 serve), big 2 (0 serve, 2 failed)"
    `);
    const name = model.sets().find(({ spec }) => spec.template.spec.class?.name === "big")?.metadata.annotations?.[
      canaryFailed
    ];
    expect(model.deployment().status?.conditions?.find(({ type }) => type === "Progressing")?.message).toContain(
      `Rollout is stopped because new machine ${name} failed`,
    );
    expect(transcribe(model, { at: { 0: edit("a better template", ofClass("huge")) } })).toContain("huge 4 (4 serve)");
  });

  it("returns by itself to the template before, without steps, where that is asked for", () => {
    const asked = { [canarySteps]: "1/1h,2/pause", [canaryOnFailure]: "rollback" };
    const model = begun(sized(4), annotated(asked));
    expect(transcribe(model, { live: breaking("big") })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 4 (4 serve), big 1 (0 serve)
      +1 big => small 4 (4 serve), big 1 (0 serve)
      New machine big of big failed: rollout stopped; -1 big => small 4 (4 serve), big 1 (0 serve, 1 go)
      Rolled back deployment "pool" to revision 1: new machine big of big failed; to try that template again, remove annotation machine.millwright.dev/canary-failed from the set; +1 big => small 4 (4 serve), big 1 (0 serve)
      Scaled down big to 0; -1 big => small 4 (4 serve), big 0 (0 serve, 1 go)
      - => small 4 (4 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 4 (4 serve), big 0 (0 serve)"
    `);
    // Once more the same: it is known to fail, no machine is made.
    expect(transcribe(model, { at: { 0: edit("the same again", ofClass("big")) } })).toMatchInlineSnapshot(`
      "* the same again
      Rolled back deployment "pool" to revision 3: new machine big of big failed; to try that template again, remove annotation machine.millwright.dev/canary-failed from the set => small 4 (4 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 4 (4 serve), big 0 (0 serve)"
    `);
  });

  it("returns to the last template that did not fail", () => {
    const asked = { [canarySteps]: "1/1h", [canaryOnFailure]: "rollback" };
    const model = begun(sized(4), annotated(asked));
    transcribe(model, { live: breaking("big") });
    model.change(ofClass("huge"));
    expect(transcribe(model, { live: breaking("huge") })).toContain("small 4 (4 serve)");
    expect(model.deployment().spec.template.spec.class?.name).toBe("small");
  });

  it("reverts without steps before its end, also when a machine fails meanwhile", () => {
    const model = begun(sized(4), quick, annotated({ [canarySteps]: "1/15s,3/pause", [canaryOnFailure]: "rollback" }));
    expect(transcribe(model)).toContain("end: small 1 (1 serve), big 3 (3 serve)");
    const failOne: Interference = (it) => {
      const [{ metadata } = { metadata: { name: "" } }] = it
        .machines()
        .filter(({ spec }) => spec.class?.name === "small")
        .toReversed();
      it.changeMachine(metadata.name, { status: { currentStatus: { phase: "Failed" } } });
      return "a machine fails";
    };
    expect(transcribe(model, { at: { 0: edit("back", ofClass("small")), 2: failOne } })).toMatchInlineSnapshot(`
      "* back
      Scaled up small to 3; +2 small => small 3 (1 serve), big 3 (3 serve)
      Scaled down big to 1; -1 big; -1 big => small 3 (3 serve), big 1 (1 serve, 2 go)
      * a machine fails
      Scaled up small to 4; -1 small; +1 small => small 4 (2 serve, 1 go), big 1 (1 serve)
      +1 small => small 4 (3 serve), big 1 (1 serve)
      Scaled down big to 0; -1 big => small 4 (4 serve), big 0 (0 serve, 1 go)
      - => small 4 (4 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 4 (4 serve), big 0 (0 serve)"
    `);
  });

  it("keeps to its steps when it had completed before the revert", () => {
    const model = begun(sized(4), annotated({ [canarySteps]: "1/15s" }));
    expect(transcribe(model)).toContain("end: small 0 (0 serve), big 4 (4 serve)");
    model.change(annotated({ [canarySteps]: "1/pause" }));
    expect(transcribe(model, { at: { 0: edit("back", ofClass("small")) } })).toContain(
      "end: small 1 (1 serve), big 3 (3 serve)",
    );
  });

  it("knows a failure from the history of a machine that is already terminating", () => {
    const model = begun(sized(2), annotated({ [canarySteps]: "1/15s" }));
    const entry = { time: "2026-01-01T00:00:00Z", operation: "Create", outcome: "Failed", message: "no node" };
    const live = (it: RolloutModel): void => {
      const bad = it.machines().filter((each) => each.spec.class?.name === "big" && !isDeleting(each));
      goWell(it);
      for (const { metadata } of bad) {
        it.changeMachine(metadata.name, {
          ...beingDeleted(apiTime(it.now())),
          status: { currentStatus: { phase: "Terminating" }, history: [entry] },
        });
      }
    };
    expect(transcribe(model, { live, rounds: 6 })).toContain("failed: rollout stopped");
  });

  it("does not stop for a machine without quota that a scale-down deletes", () => {
    const asked = { [canarySteps]: "4/10s", [canaryOnFailure]: "rollback" };
    const model = begun(sized(8), quick, annotated(asked));
    const entry = { time: "2026-01-01T00:00:00Z", operation: "Create", outcome: "ResourceExhausted", message: "quota" };
    const live = (it: RolloutModel): void => {
      const isNew = ({ spec }: Machine) => spec.class?.name === "big";
      for (const machine of it.machines().filter((each) => !isNew(each)))
        if (isDeleting(machine)) it.finishDeletion(machine);
      for (const { metadata } of it.machines().filter((each) => isNew(each) && !isDeleting(each)))
        it.changeMachine(metadata.name, { status: { currentStatus: { phase: "CrashLoopBackOff" }, history: [entry] } });
    };
    const transcript = transcribe(model, { live, rounds: 30, at: { 6: edit("a user wants 5", sized(5)) } });
    expect(transcript).toContain("-1 big");
    expect(transcript).not.toContain("rollout stopped");
  });

  it.each([
    ["", true],
    ["Remediation paused: many machines of zone a became Unknown", false],
  ])("has failed when it has not joined in time, also where its remediation waits (%s)", (hold, hasFailed) => {
    const model = begun(sized(4), annotated({ [canarySteps]: "1/15s", [canaryOnFailure]: "rollback" }));
    const text = hold === "" ? "Waiting: other machines of deployment pool are being replaced" : hold;
    const lastOperation = { description: `Machine m has not joined the cluster in 20m0s. ${text}`, type: "Create" };
    const live = (it: RolloutModel): void => {
      const waiting = it.machines().filter((each) => each.spec.class?.name === "big" && !isDeleting(each));
      goWell(it);
      for (const { metadata } of waiting)
        it.changeMachine(metadata.name, { status: { currentStatus: { phase: "Pending" }, lastOperation } });
    };
    const transcript = transcribe(model, { live, rounds: 12 });
    expect(transcript.includes("failed: rollout stopped")).toBe(hasFailed);
    expect(transcript.includes("end: small 4 (4 serve), big 0 (0 serve)")).toBe(hasFailed);
  });

  it.each(["Failed", "Running"] as const)(
    "counts a terminating machine by its phase, %s, until that is Terminating",
    (phase) => {
      const model = begun(sized(2), annotated({ [canarySteps]: "1/15s" }));
      const live = (it: RolloutModel): void => {
        for (const { metadata } of it.machines().filter((each) => each.spec.class?.name === "big"))
          it.changeMachine(metadata.name, {
            ...beingDeleted(apiTime(it.now())),
            status: { currentStatus: { phase } },
          });
      };
      expect(transcribe(model, { live, rounds: 6 }).includes("failed: rollout stopped")).toBe(phase === "Failed");
    },
  );
});
