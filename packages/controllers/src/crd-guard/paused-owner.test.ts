import { describe, expect, it } from "vitest";
import type { Hold } from "../model/crd-guard.ts";
import type { CrdState } from "../model/crd-state.ts";
import { heldText, standstillText } from "./hold-texts.ts";
import { tellStandstill } from "./crd-condition.ts";
import { decideWhenKnown, standstillBy } from "./paused-owner.ts";

const standing: CrdState = { name: "own", state: "standing", createdAt: 0, isMeant: false };
const going: CrdState = { name: "own", state: "going", createdAt: 0, deletedAt: 1, isMeant: false };
const below: CrdState = { ...going, name: "below" };
const gone: CrdState = { name: "below", state: "gone" };
const goes: Hold = { verdict: "goes" };
const held: Hold = { verdict: "held", definition: going };
const now = new Date("2026-01-01T00:00:00Z");

describe("standstillBy", () => {
  it.each([
    ["goes on while all definitions stand", standing, [standing], false, goes, undefined],
    ["goes on where nobody guards", { name: "own", state: "unguarded" }, [], false, goes, undefined],
    ["stands still while what it owns is taken away", standing, [standing, below], false, goes, "below"],
    ["stands still while the kind that it owns is gone", standing, [gone], false, goes, "below"],
    ["goes on while what it owns goes on purpose", standing, [{ ...below, isMeant: true }], false, goes, undefined],
    ["stands still before it is deleted with its definition", going, [standing], false, goes, "own"],
    ["stands still when it is deleted with its definition", going, [standing], true, held, "own"],
    ["finishes a deletion that somebody asked for before", going, [standing], true, goes, undefined],
    ["finishes no deletion while what it owns is taken away", standing, [below], true, goes, "below"],
  ] as const)("%s", (_, own, owned, isDeleting, hold, by) => {
    expect(standstillBy({ own, below: owned, isDeleting, hold })?.name).toBe(by);
  });
});

describe("decideWhenKnown", () => {
  const object = { metadata: { name: "a", uid: "u", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const about = { kind: "MachineSet", below: ["Machine"] } as const;

  it("asks before it decides about a deletion of which nothing is known, and reads the object anew", async () => {
    let asked = 0;
    let reads = 0;
    const guard = {
      stateOf: () => standing,
      holdOf: (): Hold => (asked === 0 ? { verdict: "ask" } : goes),
      ask: async () => void asked++,
    };
    const decided = await decideWhenKnown({
      ...about,
      guard,
      read: () => ({ ...object, read: ++reads }),
      decide: ({ read }, standstill) => [read, standstill],
    });
    expect([asked, decided]).toEqual([1, [2, undefined]]);
  });

  it("asks nothing about an object that stands still anyway", async () => {
    const guard = {
      stateOf: () => going,
      holdOf: (): Hold => ({ verdict: "ask" }),
      ask: () => Promise.reject(new Error("asked")),
    };
    const decided = await decideWhenKnown({ ...about, guard, read: () => object, decide: (_, by) => by?.state });
    expect(decided).toBe("going");
  });

  it("decides at once where nobody guards, and nothing about what is gone", async () => {
    expect(await decideWhenKnown({ ...about, guard: undefined, read: () => object, decide: () => "yes" })).toBe("yes");
    const guard = { stateOf: () => standing, holdOf: () => goes, ask: async () => {} };
    expect(await decideWhenKnown({ ...about, guard, read: () => undefined, decide: () => "no" })).toBeUndefined();
  });
});

describe("what is said", () => {
  it("names definition and remedy, and no annotation where there is no definition to write it on", () => {
    expect(heldText(going)).toContain("CustomResourceDefinition own is being deleted");
    expect(heldText({ ...standing, createdAt: 5 })).toContain("was deleted and made again");
    expect(standstillText(gone)).toBe(
      "Makes and deletes nothing: CustomResourceDefinition below was deleted. To go on: save the objects, remove their finalizers, then apply the definition and the objects again",
    );
  });

  it("is one condition, and an event when it is new", () => {
    const first = tellStandstill([], going, now, "transition");
    expect(first.conditions).toMatchObject([{ type: "CRDsEstablished", status: "False", reason: "CRDDeleted" }]);
    expect(first.because).toHaveLength(1);
    const second = tellStandstill(first.conditions, going, new Date(now.getTime() + 60_000), "transition");
    expect(second).toEqual({ conditions: first.conditions, because: [] });
  });
});
