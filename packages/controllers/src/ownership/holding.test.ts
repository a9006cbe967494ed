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
  isReported: false,
};

describe("decideHolding", () => {
  it("keeps the finalizer of an object that is deleted only because its CRD is", () => {
    const snapshot = {
      kind: "MachineClass",
      name: "c",
      isHeld: true,
      isGoing: true,
      referrers: [],
      referrerKind: "Machine",
      unreadable: [],
      isReported: false,
    } as const;
    expect(decideHolding({ ...snapshot, isPausedByCrd: true })).toEqual({ actions: [], because: [] });
    expect(decideHolding({ ...snapshot, isGoing: false, isPausedByCrd: true }).actions).toEqual([
      { kind: "RemoveFinalizer" },
    ]);
  });

  it.each<[string, Partial<HoldingSnapshot>, readonly string[]]>([
    ["adds the finalizer to an object that another one refers to", { isHeld: false }, ["AddFinalizer"]],
    ["leaves one alone that is held and needed", {}, []],
    ["keeps a terminating one while it is referenced", { isGoing: true, isReported: true }, []],
    ["lets one go with its last referrer", { isGoing: true, referrers: [] }, ["RemoveFinalizer"]],
    ["removes the finalizer from an unreferenced object", { referrers: [] }, ["RemoveFinalizer"]],
    ["ignores an unreferenced object without the finalizer", { isHeld: false, referrers: [] }, []],
    ["does not try to hold what is going", { isHeld: false, isGoing: true }, []],
    ["keeps an object while one that cannot be read may refer to it", { referrers: [], unreadable: ["x"] }, []],
    ["adds no finalizer for an object that cannot be read", { isHeld: false, referrers: [], unreadable: ["x"] }, []],
  ])("%s", (_, change, expected) => {
    const { actions, because } = decideHolding({ ...held, ...change });
    expect(actions.map(({ kind }) => kind)).toEqual(expected);
    expect(because).toEqual([]);
  });

  it.each<[Partial<HoldingSnapshot>, string]>([
    [{ referrers: ["b", "a"] }, "Cannot delete MachineClass small: still referenced by Machine a, b"],
    [
      { referrers: ["d", "c", "b", "a", "e"] },
      "Cannot delete MachineClass small: still referenced by Machine a, b, c and 2 more",
    ],
    [
      { kind: "Secret", referrerKind: "MachineClass", referrers: [], unreadable: ["x"] },
      "Cannot delete Secret small: MachineClass x cannot be read and may refer to it; fix or delete it",
    ],
  ])("reports once why the deletion of an object is blocked: %o", (change, message) => {
    const snapshot = { ...held, isGoing: true, ...change };
    expect(decideHolding(snapshot)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "StillInUse", message }],
    });
    expect(decideHolding({ ...snapshot, isReported: true })).toEqual({ actions: [], because: [] });
  });

  it("converges after one step, and never releases an object that is referenced", () => {
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
