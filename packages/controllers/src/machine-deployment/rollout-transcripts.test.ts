import { type MachineDeployment, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { begunRollout, ofClass, sized, edit } from "../testing/begun-rollout.ts";
import type { Change } from "../testing/builders.ts";
import type { RolloutModel } from "../testing/rollout-model.ts";
import { breaking, goWell, settle, transcribe } from "../testing/rollout-transcript.ts";

const rolling = (maxSurge: number | string, maxUnavailable: number | string): Change<MachineDeployment> => ({
  spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } },
});
const recreate: Change<MachineDeployment> = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };

const begun = (...changes: readonly Change<MachineDeployment>[]): RolloutModel =>
  begunRollout({ hasNodes: true }, ...changes);

describe("a rolling update, written down", () => {
  it("goes machine by machine with surge 1 and unavailable 0", () => {
    expect(transcribe(begun())).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 1 (1 serve) | nodes: 3 avoided, 4 kept
      Scaled up big to 2; +1 big => small 2 (2 serve), big 2 (1 serve) | nodes: 2 avoided, 3 kept
      Scaled down small to 1; -1 small => small 1 (1 serve, 1 go), big 2 (2 serve) | nodes: 2 avoided, 4 kept
      Scaled up big to 3; +1 big => small 1 (1 serve), big 3 (2 serve) | nodes: 1 avoided, 3 kept
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 3 (3 serve) | nodes: 1 avoided, 4 kept
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
  it("deletes first where there is no surge", () => {
    expect(transcribe(begun(rolling(0, 1)))).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 0 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled up big to 1; +1 big => small 2 (2 serve), big 1 (0 serve) | nodes: 2 avoided, 2 kept
      Scaled down small to 1; -1 small => small 1 (1 serve, 1 go), big 1 (1 serve) | nodes: 2 avoided, 3 kept
      Scaled up big to 2; +1 big => small 1 (1 serve), big 2 (1 serve) | nodes: 1 avoided, 2 kept
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 2 (2 serve) | nodes: 1 avoided, 3 kept
      Scaled up big to 3; +1 big => small 0 (0 serve), big 3 (2 serve) | nodes: 2 kept
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
  it("does both in percent: a surge rounded up, what may be missing rounded down", () => {
    expect(transcribe(begun(sized(10), rolling("25%", "25%")))).toMatchInlineSnapshot(`
      "Scaled up big to 3 => small 10 (10 serve), big 3 (0 serve)
      Scaled down small to 8; -1 small; -1 small; +3 big => small 8 (8 serve, 2 go), big 3 (0 serve) | nodes: 10 avoided, 10 kept
      Scaled down small to 5; Scaled up big to 5; -1 small; -1 small; -1 small; +2 big => small 5 (5 serve, 3 go), big 5 (3 serve) | nodes: 8 avoided, 11 kept
      Scaled down small to 3; Scaled up big to 8; -1 small; -1 small; +3 big => small 3 (3 serve, 2 go), big 8 (5 serve) | nodes: 5 avoided, 10 kept
      Scaled down small to 0; Scaled up big to 10; -1 small; -1 small; -1 small; +2 big => small 0 (0 serve, 3 go), big 10 (8 serve) | nodes: 3 avoided, 11 kept
      - => small 0 (0 serve), big 10 (10 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 10 (10 serve)"
    `);
  });
  it("stops when the new machines fail, and comes back by a rollback", () => {
    const at = { 8: edit("a user rolls back", { spec: { rollbackTo: { revision: 0 } } }) };
    expect(transcribe(begun(), { at, live: breaking("big") })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      -1 big => small 3 (3 serve), big 1 (0 serve, 1 go) | nodes: 3 avoided, 4 kept
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      -1 big => small 3 (3 serve), big 1 (0 serve, 1 go) | nodes: 3 avoided, 4 kept
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      -1 big => small 3 (3 serve), big 1 (0 serve, 1 go) | nodes: 3 avoided, 4 kept
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      * a user rolls back
      Rolled back deployment "pool" to revision 1; -1 big => small 3 (3 serve), big 1 (0 serve, 1 go) | nodes: 3 avoided, 3 kept
      Scaled down big to 0 => small 3 (3 serve), big 0 (0 serve) | nodes: 3 kept
      - => small 3 (3 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 3 (3 serve), big 0 (0 serve)"
    `);
  });
  it("scales out to the new machines, and in by shares", () => {
    const at = { 3: edit("a user wants 6", sized(6)), 6: edit("a user wants 2", sized(2)) };
    expect(transcribe(begun(sized(4)), { at })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 4 (4 serve), big 1 (0 serve)
      +1 big => small 4 (4 serve), big 1 (0 serve) | nodes: 4 avoided, 4 kept
      Scaled down small to 3; -1 small => small 3 (3 serve, 1 go), big 1 (1 serve) | nodes: 4 avoided, 5 kept
      * a user wants 6
      Scaled up big to 4; +3 big => small 3 (3 serve), big 4 (1 serve) | nodes: 3 avoided, 4 kept
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 4 (4 serve) | nodes: 3 avoided, 7 kept
      Scaled up big to 5; +1 big => small 2 (2 serve), big 5 (4 serve) | nodes: 2 avoided, 6 kept
      * a user wants 2
      Scaled down small to 1; Scaled down big to 2; -1 small; -1 big; -1 big; -1 big => small 1 (1 serve, 1 go), big 2 (2 serve, 3 go) | nodes: 2 avoided, 7 kept
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 2 (2 serve) | nodes: 1 avoided, 3 kept
      - => small 0 (0 serve), big 2 (2 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 2 (2 serve)"
    `);
  });
  it("changes only its size while it is paused", () => {
    const at = {
      3: edit("a user pauses", { spec: { paused: true } }),
      6: edit("a user wants 5", sized(5)),
      10: edit("a user resumes", { spec: { paused: false } }),
    };
    expect(transcribe(begun(), { at })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 1 (1 serve) | nodes: 3 avoided, 4 kept
      * a user pauses
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept
      * a user wants 5
      Scaled up big to 4; +3 big => small 2 (2 serve), big 4 (1 serve) | nodes: 2 avoided, 3 kept
      - => small 2 (2 serve), big 4 (4 serve) | nodes: 2 avoided, 3 kept
      * a user resumes
      Scaled down small to 1; -1 small => small 1 (1 serve, 1 go), big 4 (4 serve) | nodes: 2 avoided, 6 kept
      Scaled up big to 5; +1 big => small 1 (1 serve), big 5 (4 serve) | nodes: 1 avoided, 5 kept
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 5 (5 serve) | nodes: 1 avoided, 6 kept
      - => small 0 (0 serve), big 5 (5 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 5 (5 serve)"
    `);
  });
  it("follows the last of five templates, and empties the one that was proven last", () => {
    const at = Object.fromEntries(
      ["b", "c", "d", "e"].map((name, index) => [2 * index + 2, edit(`a user wants ${name}`, ofClass(name))]),
    );
    expect(transcribe(begun(), { at })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      * a user wants b
      - => small 3 (3 serve), big 1 (1 serve), b 0 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down big to 0; -1 big => small 3 (3 serve), big 0 (0 serve, 1 go), b 0 (0 serve) | nodes: 4 avoided, 4 kept
      * a user wants c
      Scaled up c to 1 => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 1 (0 serve) | nodes: 3 avoided, 3 kept
      +1 c => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 1 (0 serve) | nodes: 3 avoided, 3 kept
      * a user wants d
      - => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 1 (1 serve), d 0 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down c to 0; -1 c => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve, 1 go), d 0 (0 serve) | nodes: 4 avoided, 4 kept
      * a user wants e
      Scaled up e to 1 => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 1 (0 serve) | nodes: 3 avoided, 3 kept
      +1 e => small 3 (3 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 1 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 1 (1 serve) | nodes: 3 avoided, 4 kept
      Scaled up e to 2; +1 e => small 2 (2 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 2 (1 serve) | nodes: 2 avoided, 3 kept
      Scaled down small to 1; -1 small => small 1 (1 serve, 1 go), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 2 (2 serve) | nodes: 2 avoided, 4 kept
      Scaled up e to 3; +1 e => small 1 (1 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 3 (2 serve) | nodes: 1 avoided, 3 kept
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 3 (3 serve) | nodes: 1 avoided, 4 kept
      - => small 0 (0 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 3 (3 serve)
      NewMachineSetAvailable: MachineSet "e" has successfully progressed.
      end: small 0 (0 serve), big 0 (0 serve), b 0 (0 serve), c 0 (0 serve), d 0 (0 serve), e 3 (3 serve)"
    `);
  });
  it("waits for the limits that others set", () => {
    const model = begun(sized(4));
    const lines = [
      { mayStart: false },
      { mayStart: false },
      { mayStart: true, maxNew: 1 },
      { mayStart: true, maxNew: 1 },
      { mayStart: true, maxNew: 1 },
      { mayStart: true, maxNew: 1 },
    ].map((limits) => {
      const events = model.decideDeployment(undefined, limits);
      model.decideSets();
      goWell(model);
      const sizes = model.sets().map(({ spec }) => `${spec.template.spec.class?.name} ${spec.replicas}`);
      return `${JSON.stringify(limits)}: ${events.length === 0 ? "-" : events.join("; ").replaceAll(/pool-\w+/g, "it")} => ${sizes.join(", ")}`;
    });
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "{"mayStart":false}: - => small 4, big 0
      {"mayStart":false}: - => small 4, big 0
      {"mayStart":true,"maxNew":1}: Scaled up machine set it to 1 => small 4, big 1
      {"mayStart":true,"maxNew":1}: Scaled down machine set it to 3 => small 3, big 1
      {"mayStart":true,"maxNew":1}: - => small 3, big 1
      {"mayStart":true,"maxNew":1}: - => small 3, big 1"
    `);
    settle(model);
    expect(model.machines().map(({ spec }) => spec.class?.name)).toEqual(["big", "big", "big", "big"]);
  });
});

describe("Recreate, written down", () => {
  it("deletes all before it creates any, disables scale-down and sets no taint", () => {
    expect(transcribe(begun(recreate))).toMatchInlineSnapshot(`
      "Scaled down small to 0; -1 small; -1 small; -1 small => small 0 (0 serve, 3 go) | nodes: 3 kept
      Scaled up big to 3 => small 0 (0 serve), big 3 (0 serve)
      +3 big => small 0 (0 serve), big 3 (0 serve)
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
  it("takes over from a rolling update on the way", () => {
    const at = { 3: edit("a user wants Recreate", recreate) };
    expect(transcribe(begun(), { at })).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
      Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 1 (1 serve) | nodes: 3 avoided, 4 kept
      * a user wants Recreate
      Scaled down small to 0; -1 small; -1 small => small 0 (0 serve, 2 go), big 1 (1 serve) | nodes: 3 kept
      Scaled up big to 3; +2 big => small 0 (0 serve), big 3 (1 serve) | nodes: 1 kept
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });
});

it("replaces a machine that fails for good in the middle", () => {
  let isFirst = true;
  const live = (model: RolloutModel): void => {
    goWell(model);
    const running = model.machines().find((each) => each.spec.class?.name === "big" && phaseOf(each) === "Running");
    if (!isFirst || running === undefined) return;
    isFirst = false;
    model.setPhase(running, "Failed");
  };
  expect(transcribe(begun(), { live })).toMatchInlineSnapshot(`
    "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
    +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
    -1 big => small 3 (3 serve), big 1 (0 serve, 1 go) | nodes: 3 avoided, 4 kept
    +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
    Scaled down small to 2; -1 small => small 2 (2 serve, 1 go), big 1 (1 serve) | nodes: 3 avoided, 4 kept
    Scaled up big to 2; +1 big => small 2 (2 serve), big 2 (1 serve) | nodes: 2 avoided, 3 kept
    Scaled down small to 1; -1 small => small 1 (1 serve, 1 go), big 2 (2 serve) | nodes: 2 avoided, 4 kept
    Scaled up big to 3; +1 big => small 1 (1 serve), big 3 (2 serve) | nodes: 1 avoided, 3 kept
    Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 3 (3 serve) | nodes: 1 avoided, 4 kept
    - => small 0 (0 serve), big 3 (3 serve)
    NewMachineSetAvailable: MachineSet "big" has successfully progressed.
    end: small 0 (0 serve), big 3 (3 serve)"
  `);
});
