import { describe, expect, it } from "vitest";
import { type Deletion, decideHold, type Suspect } from "./decide-hold.ts";
import type { CrdState } from "../model/crd-state.ts";

const name = "machines.machine.sapcloud.io";
const at = 10_000_000;
const standing: CrdState = { name, state: "standing", createdAt: 1, isMeant: false };
const going: CrdState = { name, state: "going", createdAt: 1, deletedAt: at, isMeant: false };
const gone: CrdState = { name, state: "gone" };
const unguarded: CrdState = { name, state: "unguarded" };
const deletion = (change: Partial<Deletion> = {}): Deletion => ({
  deletedAt: at,
  hasBegun: false,
  isAsked: false,
  ...change,
});
const suspected = (definition: CrdState, isCleared = false): Suspect => ({ definition, isCleared });

describe("decideHold", () => {
  it.each([
    ["a deletion of the same second as the definition's", deletion(), going, "held"],
    ["a later one", deletion({ deletedAt: at + 3_600_000 }), going, "held"],
    ["a later one that MCM had begun", deletion({ hasBegun: true }), going, "held"],
    ["a later one that we asked for too", deletion({ isAsked: true }), going, "held"],
    ["one of a minute before", deletion({ deletedAt: at - 60_001 }), going, "goes"],
    ["one just before, by another clock perhaps", deletion({ deletedAt: at - 60_000 }), going, "held"],
    ["one just before that had begun", deletion({ deletedAt: at - 1_000, hasBegun: true }), going, "goes"],
    ["one just before that we asked for", deletion({ deletedAt: at - 1_000, isAsked: true }), going, "goes"],
    ["one that is meant", deletion(), { ...going, isMeant: true }, "goes"],
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
    ["one that we asked for under a definition that stands", deletion({ isAsked: true }), standing, "goes"],
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
    expect(decideHold(what, [suspected(definition)]).verdict).toBe(verdict);
  });

  it.each([
    ["that stands", standing, "goes"],
    ["that went since", going, "goes"],
    ["that is gone since", gone, "goes"],
    ["that is another one than the object's", { ...standing, createdAt: at + 1 }, "held"],
  ] as const)("takes a deletion for meant that was seen under a definition %s", (_, definition, verdict) => {
    expect(decideHold(deletion(), [suspected(definition, true)]).verdict).toBe(verdict);
  });

  it("is held by the owner's definition, for what an owner leaves behind is collected", () => {
    const owners = { ...going, name: "machinesets.machine.sapcloud.io" };
    expect(decideHold(deletion(), [suspected(standing), suspected(owners)])).toEqual({
      verdict: "held",
      definition: owners,
    });
  });

  it("asks when one of the definitions may have changed, and goes when none can hold it", () => {
    const verdict = (...suspects: readonly Suspect[]): string => decideHold(deletion(), suspects).verdict;
    expect(verdict(suspected(unguarded), suspected(standing))).toBe("ask");
    expect(verdict(suspected({ ...going, isMeant: true }), suspected(standing, true))).toBe("goes");
    expect(verdict(suspected(unguarded), suspected(unguarded))).toBe("goes");
    expect(verdict()).toBe("goes");
  });

  it("keeps what says of its deletion what nobody can read", () => {
    expect(decideHold(deletion({ deletedAt: Number.NaN }), [suspected(going)]).verdict).toBe("held");
  });
});
