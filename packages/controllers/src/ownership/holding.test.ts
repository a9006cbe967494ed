import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideHolding, type HoldingSnapshot } from "./holding.ts";

const held: HoldingSnapshot = {
  kind: "MachineClass",
  name: "small",
  isHeld: true,
  isGoing: false,
  referrers: ["a"],
  referrerKind: "Machine",
  unreadable: [],
  isTold: false,
};

describe("decideHolding", () => {
  it("lets go of nothing that goes only because its definition does", () => {
    const snapshot = {
      kind: "MachineClass",
      name: "c",
      isHeld: true,
      isGoing: true,
      referrers: [],
      referrerKind: "Machine",
      unreadable: [],
      isTold: false,
    } as const;
    expect(decideHolding({ ...snapshot, isPausedByCrd: true })).toEqual({ actions: [], because: [] });
    expect(decideHolding({ ...snapshot, isGoing: false, isPausedByCrd: true }).actions).toEqual([
      { kind: "RemoveFinalizer" },
    ]);
  });

  it.each<[string, Partial<HoldingSnapshot>, readonly string[]]>([
    ["holds an object as soon as somebody refers to it", { isHeld: false }, ["AddFinalizer"]],
    ["leaves one alone that is held and needed", {}, []],
    ["keeps one that is to be deleted while somebody needs it", { isGoing: true, isTold: true }, []],
    ["lets one go with its last referrer", { isGoing: true, referrers: [] }, ["RemoveFinalizer"]],
    ["does not hold what nobody needs", { referrers: [] }, ["RemoveFinalizer"]],
    ["leaves alone what nobody needs and nobody holds", { isHeld: false, referrers: [] }, []],
    ["does not try to hold what is going", { isHeld: false, isGoing: true }, []],
    ["lets nothing go while somebody might refer to it who cannot be read", { referrers: [], unreadable: ["x"] }, []],
    ["holds nothing for somebody who cannot be read", { isHeld: false, referrers: [], unreadable: ["x"] }, []],
  ])("%s", (_, change, expected) => {
    const { actions, because } = decideHolding({ ...held, ...change });
    expect(actions.map(({ kind }) => kind)).toEqual(expected);
    expect(because).toEqual([]);
  });

  it.each<[Partial<HoldingSnapshot>, string]>([
    [{ referrers: ["b", "a"] }, "MachineClass small stays until no Machine refers to it; these do: a, b"],
    [
      { referrers: ["d", "c", "b", "a", "e"] },
      "MachineClass small stays until no Machine refers to it; these do: a, b, c and 2 more",
    ],
    [
      { kind: "Secret", referrerKind: "MachineClass", referrers: [], unreadable: ["x"] },
      "Secret small stays because it cannot be told to what MachineClass x refers; mend or delete what cannot be read",
    ],
  ])("says once why an object that is to be deleted stays: %o", (change, message) => {
    const snapshot = { ...held, isGoing: true, ...change };
    expect(decideHolding(snapshot)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "StillInUse", message }],
    });
    expect(decideHolding({ ...snapshot, isTold: true })).toEqual({ actions: [], because: [] });
  });

  it("comes to rest after one step, and never lets go of what somebody needs", () => {
    const names = fc.array(fc.constantFrom("a", "b"), { maxLength: 2 });
    fc.assert(
      fc.property(
        fc.record({ isHeld: fc.boolean(), isGoing: fc.boolean(), referrers: names, unreadable: names }),
        (drawn) => {
          const snapshot = { ...held, ...drawn };
          const [action] = decideHolding(snapshot).actions;
          expect(action?.kind === "RemoveFinalizer" && drawn.referrers.length > 0).toBe(false);
          const isHeld = action === undefined ? drawn.isHeld : action.kind === "AddFinalizer";
          expect(decideHolding({ ...snapshot, isHeld }).actions).toEqual([]);
        },
      ),
    );
  });
});
