import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideInUseProtection, type InUseSnapshot } from "./in-use-protection.ts";

const protectedClass: InUseSnapshot = {
  kind: "MachineClass",
  name: "small",
  hasFinalizer: true,
  isTerminating: false,
  referrers: ["a"],
  referrerKind: "Machine",
  unreadable: [],
  isReported: false,
};

describe("decideInUseProtection", () => {
  it("keeps the finalizer of an object that is deleted only because its CRD is", () => {
    const snapshot = {
      kind: "MachineClass",
      name: "c",
      hasFinalizer: true,
      isTerminating: true,
      referrers: [],
      referrerKind: "Machine",
      unreadable: [],
      isReported: false,
    } as const;
    expect(decideInUseProtection({ ...snapshot, isHeld: true })).toEqual({ actions: [], because: [] });
    expect(decideInUseProtection({ ...snapshot, isTerminating: false, isHeld: true }).actions).toEqual([
      { kind: "RemoveFinalizer" },
    ]);
  });

  it.each<[string, Partial<InUseSnapshot>, readonly string[]]>([
    ["adds the finalizer to an object that another one refers to", { hasFinalizer: false }, ["AddFinalizer"]],
    ["leaves a protected object with referrers alone", {}, []],
    ["keeps a terminating one while it is referenced", { isTerminating: true, isReported: true }, []],
    ["removes the finalizer with the last referrer", { isTerminating: true, referrers: [] }, ["RemoveFinalizer"]],
    ["removes the finalizer from an unreferenced object", { referrers: [] }, ["RemoveFinalizer"]],
    ["ignores an unreferenced object without the finalizer", { hasFinalizer: false, referrers: [] }, []],
    ["adds no finalizer to a terminating object", { hasFinalizer: false, isTerminating: true }, []],
    ["keeps an object while one that cannot be read may refer to it", { referrers: [], unreadable: ["x"] }, []],
    [
      "adds no finalizer for an object that cannot be read",
      { hasFinalizer: false, referrers: [], unreadable: ["x"] },
      [],
    ],
  ])("%s", (_, change, expected) => {
    const { actions, because } = decideInUseProtection({ ...protectedClass, ...change });
    expect(actions.map(({ kind }) => kind)).toEqual(expected);
    expect(because).toEqual([]);
  });

  it.each<[Partial<InUseSnapshot>, string]>([
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
    const snapshot = { ...protectedClass, isTerminating: true, ...change };
    expect(decideInUseProtection(snapshot)).toEqual({
      actions: [],
      because: [{ type: "Warning", reason: "StillInUse", message }],
    });
    expect(decideInUseProtection({ ...snapshot, isReported: true })).toEqual({ actions: [], because: [] });
  });

  it("converges after one step, and never releases an object that is referenced", () => {
    const names = fc.array(fc.constantFrom("a", "b"), { maxLength: 2 });
    fc.assert(
      fc.property(
        fc.record({ hasFinalizer: fc.boolean(), isTerminating: fc.boolean(), referrers: names, unreadable: names }),
        (drawn) => {
          const snapshot = { ...protectedClass, ...drawn };
          const [action] = decideInUseProtection(snapshot).actions;
          expect(action?.kind === "RemoveFinalizer" && drawn.referrers.length > 0).toBe(false);
          const hasFinalizer = action === undefined ? drawn.hasFinalizer : action.kind === "AddFinalizer";
          expect(decideInUseProtection({ ...snapshot, hasFinalizer }).actions).toEqual([]);
        },
      ),
    );
  });
});
