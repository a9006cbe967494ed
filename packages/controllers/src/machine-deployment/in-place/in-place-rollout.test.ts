import {
  annotationKeys,
  inPlaceUpdateReasons,
  labelKeys,
  type Machine,
  type MachineDeployment,
  phaseOf,
} from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { inPlaceReasonOf } from "../../model/in-place-state.ts";
import { begunRollout, sized, edit } from "../../testing/begun-rollout.ts";
import { annotated, type Change } from "../../testing/builders.ts";
import type { RolloutModel } from "../../testing/rollout-model.ts";
import { inPlaceBudget } from "../gates/in-place-budget.ts";
import { sortSets } from "../state/sets.ts";
import { goWell, type Interference, report, transcribe } from "../../testing/rollout-transcript.ts";

const inPlace = (change: object = {}): Change<MachineDeployment> => ({
  spec: {
    strategy: {
      type: "InPlaceUpdate",
      rollingUpdate: null,
      inPlaceUpdate: { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto", ...change },
    },
  },
});

const begun = (...changes: readonly Change<MachineDeployment>[]): RolloutModel =>
  begunRollout({ hasNodes: true }, ...changes);

/** The agent on the first node that is ready for it fails. */
function failFirst(model: RolloutModel): void {
  const node = model.nodes.all().find((each) => inPlaceReasonOf(each) === inPlaceUpdateReasons.readyForUpdate);
  if (node !== undefined) report(model, node, "failed");
}

const select =
  (count: number): Interference =>
  (model) => {
    const waiting = model.nodes.all().filter(({ metadata }) => metadata.labels?.[labelKeys.candidateForUpdate]);
    for (const { metadata } of waiting.slice(0, count))
      model.nodes.changeUnseen(metadata.name, { metadata: { labels: { [labelKeys.selectedForUpdate]: "true" } } });
    model.nodes.catchUp();
    return `a person selects ${count}`;
  };

describe("an update in place, written down", () => {
  it("goes from node to node, and keeps every machine", () => {
    const model = begun(inPlace());
    const before = model.machines().map(({ metadata }) => metadata.uid);
    expect(transcribe(model)).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 1; Moved to big after the in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 2 (1 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 2; Moved to big after the in-place update: small => small 1 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 3; Moved to big after the in-place update: small => small 0 (0 serve), big 3 (3 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
    expect(model.machines().map(({ metadata }) => metadata.uid)).toEqual(before);
  });

  it("surges with a new machine, which one of the old makes place for in the end", () => {
    expect(transcribe(begun(inPlace({ maxSurge: 1, maxUnavailable: 0 })))).toMatchInlineSnapshot(`
      "Scaled up big to 1 => small 3 (3 serve), big 1 (0 serve)
      +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates
      Selected for in-place update: small => small 3 (3 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 2; Moved to big after the in-place update: small => small 2 (2 serve), big 2 (2 serve) | nodes: 3 avoided, 4 kept, 3 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 2 (2 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected
      - => small 2 (2 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 2 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 3; Moved to big after the in-place update: small => small 1 (1 serve), big 3 (3 serve) | nodes: 2 avoided, 4 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; -1 small => small 0 (0 serve, 1 go), big 3 (3 serve) | nodes: 1 avoided, 4 kept, 1 candidates
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });

  it("keeps its window full: as one node is done the next is selected", () => {
    expect(transcribe(begun(sized(5), inPlace({ maxUnavailable: "40%" })))).toMatchInlineSnapshot(`
      "- => small 5 (5 serve), big 0 (0 serve)
      Selected for in-place update: small, small => small 5 (5 serve), big 0 (0 serve) | nodes: 5 avoided, 5 kept, 5 candidates, 2 selected
      - => small 5 (5 serve), big 0 (0 serve) | nodes: 5 avoided, 5 kept, 5 candidates, 2 selected, 2 cordoned
      - => small 5 (3 serve), big 0 (0 serve) | nodes: 5 avoided, 5 kept, 5 candidates, 2 selected, 2 cordoned
      Scaled down small to 3; Scaled up big to 2; Moved to big after the in-place update: small, small => small 3 (3 serve), big 2 (2 serve) | nodes: 5 avoided, 5 kept, 5 candidates, 2 selected, 2 cordoned
      Selected for in-place update: small, small => small 3 (3 serve), big 2 (2 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 2 selected
      - => small 3 (3 serve), big 2 (2 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 2 selected, 2 cordoned
      - => small 3 (1 serve), big 2 (2 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 2 selected, 2 cordoned
      Scaled down small to 1; Scaled up big to 4; Moved to big after the in-place update: small, small => small 1 (1 serve), big 4 (4 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 2 selected, 2 cordoned
      Selected for in-place update: small => small 1 (1 serve), big 4 (4 serve) | nodes: 1 avoided, 5 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 4 (4 serve) | nodes: 1 avoided, 5 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 4 (4 serve) | nodes: 1 avoided, 5 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 5; Moved to big after the in-place update: small => small 0 (0 serve), big 5 (5 serve) | nodes: 1 avoided, 5 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 5 (5 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 5 (5 serve)"
    `);
  });

  it("leaves the choice and the pace to people when they want it", () => {
    const at = { 3: select(1), 8: select(2) };
    expect(transcribe(begun(inPlace({ orchestrationType: "Manual" })), { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates
      * a person selects 1
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      * a person selects 2
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 1; Moved to big after the in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected, 2 cordoned
      - => small 2 (1 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 2; Moved to big after the in-place update: small => small 1 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates
      MachineSetUpdated: MachineSet "big" waits: Nodes are updated once they have label node.machine.sapcloud.io/selected-for-update=true
      end: small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates"
    `);
  });

  it("scales out and in on the way, and goes on", () => {
    const at = { 3: edit("a user wants 5", sized(5)), 10: edit("a user wants 2", sized(2)) };
    expect(transcribe(begun(inPlace()), { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      * a user wants 5
      Scaled up big to 2; +2 big => small 3 (3 serve), big 2 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 2 (2 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled down small to 2; Scaled up big to 3; Moved to big after the in-place update: small => small 2 (2 serve), big 3 (3 serve) | nodes: 3 avoided, 5 kept, 3 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 2 (2 serve), big 3 (3 serve) | nodes: 2 avoided, 5 kept, 2 candidates, 1 selected
      * a user wants 2
      Scaled down small to 1; Scaled down big to 1; -1 small; -1 big; -1 big => small 1 (1 serve, 1 go), big 1 (1 serve, 2 go) | nodes: 2 avoided, 5 kept, 2 candidates, 1 selected
      Selected for in-place update: small => small 1 (1 serve), big 1 (1 serve) | nodes: 1 avoided, 2 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 1 (1 serve) | nodes: 1 avoided, 2 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 1 (1 serve) | nodes: 1 avoided, 2 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 2; Moved to big after the in-place update: small => small 0 (0 serve), big 2 (2 serve) | nodes: 1 avoided, 2 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 2 (2 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 2 (2 serve)"
    `);
  });

  it("changes nothing while it is paused", () => {
    const at = {
      3: edit("a user pauses", { spec: { paused: true } }),
      12: edit("a user resumes", { spec: { paused: false } }),
    };
    expect(transcribe(begun(inPlace()), { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      * a user pauses
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      * a user resumes
      Scaled down small to 2; Scaled up big to 1; Moved to big after the in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      - => small 2 (1 serve), big 1 (1 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Scaled down small to 1; Scaled up big to 2; Moved to big after the in-place update: small => small 1 (1 serve), big 2 (2 serve) | nodes: 2 avoided, 3 kept, 2 candidates, 1 selected, 1 cordoned
      Selected for in-place update: small => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 3; Moved to big after the in-place update: small => small 0 (0 serve), big 3 (3 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });

  it("replaces a machine that could not be updated, and goes on with the others", () => {
    let hasFailed = false;
    const live = (model: RolloutModel): void => {
      if (!hasFailed) failFirst(model);
      hasFailed ||= model.machines().some((machine) => phaseOf(machine) === "InPlaceUpdateFailed");
      const failed = model.machines().filter((machine) => phaseOf(machine) === "InPlaceUpdateFailed");
      goWell(model);
      // Its health timeout is over.
      for (const machine of failed) model.setPhase(machine, "Failed");
    };
    expect(transcribe(begun(inPlace({ maxUnavailable: 2 })), { live })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small, small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected, 2 cordoned
      - => small 3 (1 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected, 2 cordoned
      Scaled down small to 2; Scaled up big to 1; Moved to big after the in-place update: small; -1 small => small 2 (1 serve, 1 go), big 1 (1 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 2 selected, 2 cordoned
      Scaled down small to 1; Scaled up big to 2; Selected for in-place update: small; +1 big => small 1 (1 serve), big 2 (1 serve) | nodes: 1 avoided, 2 kept, 1 candidates, 1 selected
      - => small 1 (1 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 1 (0 serve), big 2 (2 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down small to 0; Scaled up big to 3; Moved to big after the in-place update: small => small 0 (0 serve), big 3 (3 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 0 (0 serve), big 3 (3 serve)
      NewMachineSetAvailable: MachineSet "big" has successfully progressed.
      end: small 0 (0 serve), big 3 (3 serve)"
    `);
  });

  it("is rolled back: what was selected is released, what was updated is updated again", () => {
    const at = { 8: edit("a user rolls back", { spec: { rollbackTo: { revision: 0 } } }) };
    expect(transcribe(begun(inPlace()), { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      - => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      - => small 3 (2 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      * a user rolls back
      Rolled back deployment "pool" to revision 1 => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected, 1 cordoned
      Scaled up big to 1; Scaled down small to 2; Moved to big after the in-place update: small => small 2 (2 serve), big 1 (1 serve)
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 1 avoided, 3 kept
      Selected for in-place update: small => small 2 (2 serve), big 1 (1 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected
      - => small 2 (2 serve), big 1 (1 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 2 (2 serve), big 1 (0 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      Scaled down big to 0; Scaled up small to 3; Moved to small after the in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 1 avoided, 3 kept, 1 candidates, 1 selected, 1 cordoned
      - => small 3 (3 serve), big 0 (0 serve)
      NewMachineSetAvailable: MachineSet "small" has successfully progressed.
      end: small 3 (3 serve), big 0 (0 serve)"
    `);
  });

  it("gives way to another strategy, and leaves nothing on the nodes", () => {
    const change: Change<MachineDeployment> = {
      spec: {
        strategy: { type: "RollingUpdate", inPlaceUpdate: null, rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      },
    };
    const at = { 3: edit("a user wants a rolling update", change) };
    expect(transcribe(begun(inPlace()), { at })).toMatchInlineSnapshot(`
      "- => small 3 (3 serve), big 0 (0 serve)
      Selected for in-place update: small => small 3 (3 serve), big 0 (0 serve) | nodes: 3 avoided, 3 kept, 3 candidates, 1 selected
      * a user wants a rolling update
      Scaled up big to 1; +1 big => small 3 (3 serve), big 1 (0 serve) | nodes: 3 avoided, 3 kept
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
});

describe("an old machine that cannot be updated in place", () => {
  const breaks: readonly (readonly [string, (model: RolloutModel, name: string) => void])[] = [
    [
      "has no node",
      (model, name) => {
        model.nodes.leave(name);
        model.setPhase(machineOf(model, name), "Unknown");
      },
    ],
    [
      "has no VM",
      (model, name) => {
        model.nodes.leave(name);
        model.changeMachine(name, { status: { currentStatus: { phase: "CrashLoopBackOff" } } });
      },
    ],
    [
      "has not joined",
      (model, name) => {
        model.nodes.leave(name);
        model.setPhase(machineOf(model, name), "Pending");
      },
    ],
  ];
  const machineOf = (model: RolloutModel, name: string): Machine => {
    const machine = model.machines().find(({ metadata }) => metadata.name === name);
    if (machine === undefined) throw new Error(`no machine ${name}`);
    return machine;
  };

  it.each(breaks.flatMap(([what, breakIt]) => [0, 1].map((maxSurge) => [what, maxSurge, breakIt] as const)))(
    "because it %s is replaced first, and the update goes on (surge %d)",
    (_, maxSurge, breakIt) => {
      const model = begun(inPlace({ maxSurge }));
      const [, victim = ""] = model.machines().map(({ metadata }) => metadata.name);
      const stillBroken = (it: RolloutModel): void => {
        goWell(it);
        const machine = it.machines().find(({ metadata }) => metadata.name === victim);
        if (machine !== undefined && machine.metadata.deletionTimestamp === undefined) breakIt(it, victim);
      };
      breakIt(model, victim);
      const transcript = transcribe(model, { live: stillBroken });
      expect(transcript).toContain("end: small 0 (0 serve), big 3 (3 serve)");
      // Of the others only the surge takes one.
      expect(transcript.match(/-1 small/g)).toHaveLength(1 + maxSurge);
    },
  );

  it("stays outside of windows, and is named as what the rollout waits for where it serves again", () => {
    const closed = { [annotationKeys.maintenanceWindows]: "0 5 * * * 1h" };
    const model = begun(inPlace(), annotated(closed));
    const [victim = ""] = model.machines().map(({ metadata }) => metadata.name);
    const live = (it: RolloutModel): void => {
      goWell(it);
      model.setPhase(machineOf(it, victim), "Unknown");
    };
    expect(transcribe(model, { live, rounds: 10 })).toContain("end: small 3 (2 serve), big 0 (0 serve)");
    const messageOf = (): string =>
      model.deployment().status?.conditions?.find(({ type }) => type === "Progressing")?.message ?? "";
    expect(messageOf()).toContain("maintenance window");
    model.change({ metadata: { annotations: { [annotationKeys.maintenanceWindows]: null } } });
    model.decideDeployment();
    const held = inPlaceBudget(
      {
        deployment: model.deployment(),
        claim: { owned: [], adopt: [], release: [] },
        machines: new Map(),
        problems: [],
        isSpecValid: true,
      },
      sortSets(model.deployment(), model.sets(), new Map([[model.sets()[0]?.metadata.uid ?? "", model.machines()]])),
    ).holds;
    expect(held).toEqual([`Rollout waits for machine ${victim}, which is not available: maxUnavailable is 1`]);
  });
});
