import { annotationKeys, labelKeys, type MachineSet, readMachineSet } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { stateOfHold } from "../model/hold-condition.ts";
import { describe, expect, it } from "vitest";
import { aMachineSet, annotated, type Change, labeled } from "../testing/builders.ts";
import { decideFreeze, type Freeze } from "./freeze-set.ts";

const limits = { upper: 8, lower: 7 };
const label = labeled({ [labelKeys.freeze]: "True" });
const request = annotated({ [annotationKeys.unfreeze]: "" });
const grownFrom = (replicas: number): Change<MachineSet> => ({ status: { replicas } });
const frozenWith = (message: string): Change<MachineSet> => ({
  status: { machineSetCondition: [{ type: "Frozen", status: "True", reason: "OverShootingReplicaCount", message }] },
});
const freezeOf = (count: number, ...changes: readonly Change<MachineSet>[]): Freeze =>
  decideFreeze(aMachineSet(...changes), count, limits);

const frozen = { metadata: { labels: { freeze: "True" } } };
const thawed = { metadata: { labels: { freeze: null } } };
const answered = { metadata: { annotations: { [annotationKeys.unfreeze]: null } } };

describe("decideFreeze", () => {
  it.each<[string, boolean, object | undefined, Freeze]>([
    ["lets a set be that has as many machines as it should", false, undefined, freezeOf(3)],
    ["lets a set be that comes near the limit", false, undefined, freezeOf(7)],
    ["freezes a set that comes to the limit", true, frozen, freezeOf(8, grownFrom(7))],
    ["freezes a set that is seen for the first time", true, frozen, freezeOf(20)],
    ["freezes no set that is scaled down and has not grown", false, undefined, freezeOf(20, grownFrom(20))],
    ["freezes a set that shrinks and grows all the same", true, frozen, freezeOf(21, grownFrom(20))],
    ["keeps a set frozen between the limits", true, undefined, freezeOf(8, label, grownFrom(9))],
    ["unfreezes at the lower limit", false, thawed, freezeOf(7, label)],
    [
      "unfreezes on request",
      false,
      { metadata: { ...thawed.metadata, ...answered.metadata } },
      freezeOf(9, label, request),
    ],
    ["takes back a request that asks for nothing", false, answered, freezeOf(3, request)],
    ["answers a request before it freezes", false, answered, freezeOf(9, request)],
    ["leaves a set unfrozen whose label was removed", false, undefined, freezeOf(9, grownFrom(9), frozenWith("x"))],
    [
      "reads the label as MCM does, with its capital letter",
      false,
      undefined,
      freezeOf(3, labeled({ freeze: "true" })),
    ],
  ])("%s", (_, isFrozen, patch, freeze) => {
    expect(freeze.hold !== undefined).toBe(isFrozen);
    expect(freeze.patch).toEqual(patch);
  });

  it("reports it once with MCM's message", () => {
    const { hold, because } = freezeOf(9, grownFrom(3));
    expect(stateOfHold(hold)).toEqual({
      type: "Frozen",
      status: "True",
      reason: "OverShootingReplicaCount",
      message: "The number of machines backing MachineSet: set is 9 >= 8 which is the Max-ScaleUp-Limit",
    });
    expect(because).toEqual([
      {
        type: "Normal",
        reason: "FrozeMachineSet",
        message: "SafetyController: Froze MachineSet set due to replica overshooting",
      },
    ]);
    const later = freezeOf(12, label, frozenWith(hold?.message ?? ""));
    expect([later.hold, later.because]).toEqual([hold, []]);
  });

  it("reports it although the reconcile that set the label was interrupted", () => {
    const { hold, because, patch } = freezeOf(8, label);
    expect(patch).toBeUndefined();
    expect(hold?.message).toContain("is 8 >= 8");
    expect(because).toHaveLength(1);
  });

  it("reports what to wait for when a user froze a set", () => {
    const set = aMachineSet(label);
    const { hold } = decideFreeze(set, 7, { upper: 8, lower: 6 });
    expect(hold?.message).toBe(
      "MachineSet: set has the label freeze, which is removed when it has 6 machines or fewer",
    );
  });

  it("reports the end, and nothing when the freeze was not reported", () => {
    expect(freezeOf(3, label, frozenWith("x")).because.map(({ message }) => message)).toEqual([
      "SafetyController: Unfroze MachineSet set",
    ]);
    expect(freezeOf(3, frozenWith("x")).because).toHaveLength(1);
    expect(freezeOf(3, label).because).toEqual([]);
  });

  it("keeps whatever an empty message leaves", () => {
    const condition = { type: "Frozen", status: "True" };
    expect(freezeOf(9, label, { status: { machineSetCondition: [condition] } }).hold?.message).toBe("");
  });

  it("comes to rest once its patch is applied, at any number of machines", () => {
    const states = fc.constantFrom<Change<MachineSet>>({}, label, request, frozenWith("x"));
    fc.assert(
      fc.property(fc.nat(12), fc.nat(12), fc.array(states, { maxLength: 3 }), (count, before, changes) => {
        const set = aMachineSet(grownFrom(before), ...changes);
        const first = decideFreeze(set, count, limits);
        const patched = readMachineSet(applyMergePatch(aMachineSet(set, grownFrom(count)), first.patch ?? {}));
        if (!patched.ok) throw new TypeError("the patch made what cannot be");
        const second = decideFreeze(patched.value, count, limits);
        expect(second.patch).toBeUndefined();
        expect(second.hold).toEqual(first.hold);
      }),
    );
  });
});

it("compares with what the last pass saw rather than with a status that was not written since", () => {
  const set = aMachineSet(grownFrom(5));
  expect([
    decideFreeze(set, 20, limits, 20).hold !== undefined,
    decideFreeze(set, 21, limits, 20).hold !== undefined,
  ]).toEqual([false, true]);
});
