import { describe, expect, it } from "vitest";
import { type Deletion, decideHold } from "./decide-hold.ts";
import type { DefinitionState } from "./definition-state.ts";

const name = "machines.machine.sapcloud.io";
const at = 10_000_000;
const standing: DefinitionState = { name, state: "standing", createdAt: 1, isMeant: false };
const going: DefinitionState = { name, state: "going", createdAt: 1, deletedAt: at, isMeant: false };
const gone: DefinitionState = { name, state: "gone" };
const unguarded: DefinitionState = { name, state: "unguarded" };
const deletion = (change: Partial<Deletion> = {}): Deletion => ({
  deletedAt: at,
  hasBegun: false,
  proof: "none",
  ...change,
});

describe("decideHold", () => {
  it.each([
    ["a deletion of the same second as the definition's", deletion(), going, "held"],
    ["a later one", deletion({ deletedAt: at + 3_600_000 }), going, "held"],
    ["a later one that MCM had begun", deletion({ hasBegun: true }), going, "held"],
    ["a later one that we asked for too", deletion({ proof: "asked" }), going, "held"],
    ["one of a minute before", deletion({ deletedAt: at - 60_001 }), going, "goes"],
    ["one just before, by another clock perhaps", deletion({ deletedAt: at - 60_000 }), going, "held"],
    ["one just before that had begun", deletion({ deletedAt: at - 1_000, hasBegun: true }), going, "goes"],
    ["one just before that we asked for", deletion({ deletedAt: at - 1_000, proof: "asked" }), going, "goes"],
    ["one that was seen while the definition stood", deletion({ proof: "confirmed" }), going, "goes"],
    ["one that is meant", deletion(), { ...going, isMeant: true }, "goes"],
    ["one that was seen under a definition that stands", deletion({ proof: "confirmed" }), standing, "goes"],
    [
      "one from an earlier definition than the one that goes",
      deletion(),
      { ...going, createdAt: at + 1, deletedAt: at + 2 },
      "held",
    ],
    ["one of a kind whose definition is gone", deletion(), gone, "held"],
    ["one that had begun before the definition went", deletion({ hasBegun: true }), gone, "goes"],
    ["one of a kind that nobody guards", deletion(), unguarded, "goes"],
    ["one under a definition that seems to stand", deletion(), standing, "ask"],
    ["one that we asked for under a definition that stands", deletion({ proof: "asked" }), standing, "goes"],
    ["one that has begun, after a restart", deletion({ hasBegun: true }), standing, "ask"],
    ["one under a definition that announces it", deletion(), { ...standing, isMeant: true }, "goes"],
    ["one from an earlier definition", deletion(), { ...standing, createdAt: at + 1 }, "held"],
    [
      "one from an earlier definition that had begun",
      deletion({ hasBegun: true }),
      { ...standing, createdAt: at + 1 },
      "ask",
    ],
  ] as const)("%s", (_, what, definition, verdict) => {
    expect(decideHold(what, [definition]).verdict).toBe(verdict);
  });

  it("is held by the owner's definition, for what an owner leaves behind is collected", () => {
    const owners = { ...going, name: "machinesets.machine.sapcloud.io" };
    expect(decideHold(deletion(), [standing, owners])).toEqual({ verdict: "held", definition: owners });
  });

  it("asks when one of the definitions may have changed, and goes when none can hold it", () => {
    expect(decideHold(deletion(), [unguarded, standing]).verdict).toBe("ask");
    expect(decideHold(deletion(), [unguarded, unguarded]).verdict).toBe("goes");
    expect(decideHold(deletion(), []).verdict).toBe("goes");
  });
});
