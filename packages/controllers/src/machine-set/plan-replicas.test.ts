import {
  annotationKeys,
  labelKeys,
  type Machine,
  type MachinePhase,
  type MachineSet,
} from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  createdAt,
  inPhase,
  labeled,
  named,
} from "../testing/builders.ts";
import { unreadTargetHold } from "../cluster/unread-target.ts";
import type { Hold } from "../model/hold.ts";
import { hasFreezeLabel } from "../safety/freeze-set.ts";
import { BURST, planReplicas } from "./plan-replicas.ts";

const now = new Date("2026-01-02T00:00:00Z");
const scaledAt = "2026-01-01T12:00:00Z";
const before = "2026-01-01T11:00:00Z";
const after = "2026-01-01T13:00:00Z";
const future = "2026-01-03T00:00:00Z";

/** A machine created in the n-th minute, so that `m0` is the oldest. */
const machine = (index: number, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(
    named(`m${index}`),
    createdAt(new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString().replace(".000", "")),
    inPhase("Running"),
    ...changes,
  );
const several = (count: number, ...changes: readonly Change<Machine>[]): readonly Machine[] =>
  Array.from({ length: count }, (_, index) => machine(index, ...changes));
const failed = inPhase("Failed");
const moved = labeled({ [labelKeys.updateResult]: "successful" });
const marked = (at: string) =>
  annotated({ [annotationKeys.machinePriority]: "1", [annotationKeys.markedForDeletionTime]: at });
const scaledSet = annotated({ [annotationKeys.lastReplicaChangeByScaler]: scaledAt });
const frozen = labeled({ [labelKeys.freeze]: "True" });

const freeze: Hold = { by: "frozen", holds: "creation", message: "", remedy: "" };

/** The plan as text: `+2`, `-m1 -m3`, or nothing. */
const planOf = (replicas: number, machines: readonly Machine[], ...changes: readonly Change<MachineSet>[]): string => {
  const set = aMachineSet({ spec: { replicas } }, ...changes);
  const plan = planReplicas({ set, owned: machines, now, heldBy: hasFreezeLabel(set) ? [freeze] : [] });
  return [
    ...(plan.create > 0 ? [`+${plan.create}`] : []),
    ...plan.remove.map(({ machine }) => `-${machine.metadata.name}`),
    ...(plan.blocked === undefined ? [] : [plan.blocked.by]),
  ].join(" ");
};

describe("planReplicas, while the Nodes were never listed", () => {
  it("replaces no Failed machine, which an annotation of its Node may keep, and deletes what is too many", () => {
    const owned = [machine(0, failed), machine(1), machine(2)];
    const plan = (replicas: number, areNodesUnread: boolean) =>
      planReplicas({
        set: aMachineSet({ spec: { replicas } }),
        owned,
        now,
        heldBy: areNodesUnread ? [unreadTargetHold] : [],
      }).remove.map((each) => `${each.machine.metadata.name} ${each.cause}`);
    expect(plan(3, false)).toEqual(["m0 remediation"]);
    expect(plan(3, true)).toEqual([]);
    expect(plan(2, true)).toEqual(["m0 scale-down"]);
  });
});

describe("planReplicas", () => {
  it.each<[string, string, () => string]>([
    ["creates what is missing", "+1", () => planOf(3, several(2))],
    ["creates no more than a hundred at once", "+100", () => planOf(200, [])],
    ["leaves a complete set alone", "", () => planOf(3, several(3))],
    ["wants no machines without spec.replicas", "-m0", () => planOf(3, several(1), { spec: { replicas: null } })],
    [
      "deletes the Failed machine when there is one too many",
      "-m3",
      () => planOf(3, [...several(3), machine(3, failed)]),
    ],
    [
      "replaces a Failed machine: deletes it first, and creates its successor once it is terminating",
      "-m2",
      () => planOf(3, [...several(2), machine(2, failed)]),
    ],
    ["deletes the oldest of equal machines", "-m0", () => planOf(3, several(4))],
    [
      "deletes failed machines even while others are missing",
      "+1 -m1",
      () => planOf(3, [machine(0), machine(1, failed)]),
    ],
    [
      "deletes failed machines of a frozen set",
      "-m1 frozen",
      () => planOf(3, [machine(0), machine(1, failed)], frozen),
    ],
    [
      "does not count terminating machines",
      "",
      () => planOf(3, [...several(3), machine(3, inPhase("Terminating")), machine(4, beingDeleted())]),
    ],
    [
      "replaces marked machines although nothing is surplus",
      "-m2 -m3",
      () => planOf(4, [...several(2), machine(2, marked(before)), machine(3, marked(before))], scaledSet),
    ],
    [
      "deletes exactly the marked machines",
      "-m2 -m3",
      () => planOf(2, [...several(2), machine(2, marked(before)), machine(3, marked(before))], scaledSet),
    ],
    [
      "deletes the marked machines and then the next in order",
      "-m2 -m3 -m0",
      () => planOf(1, [...several(2), machine(2, marked(before)), machine(3, marked(before))], scaledSet),
    ],
    [
      "waits for the replica change that belongs to a mark",
      "",
      () => planOf(2, [machine(0), machine(1, marked(after))], scaledSet),
    ],
    [
      "takes a mark of the very second of the replica change",
      "-m1",
      () => planOf(2, [machine(0), machine(1, marked(scaledAt))], scaledSet),
    ],
    [
      "does not act on a mark while the set knows of no replica change",
      "",
      () => planOf(2, [machine(0), machine(1, marked(before))]),
    ],
    [
      "does not delete by a priority without a mark",
      "",
      () => planOf(2, [machine(0), machine(1, annotated({ [annotationKeys.machinePriority]: "1" }))], scaledSet),
    ],
    [
      "does not delete by a mark without a priority",
      "",
      () =>
        planOf(2, [machine(0), machine(1, annotated({ [annotationKeys.markedForDeletionTime]: before }))], scaledSet),
    ],
    ["counts a machine moved by an in-place update as present", "+1", () => planOf(3, [machine(0), machine(1, moved)])],
    ["has enough with two of its own and one moved here", "", () => planOf(3, [...several(2), machine(2, moved)])],
    [
      "counts a machine moved by an in-place update as no surplus",
      "-m0",
      () => planOf(3, [...several(4), machine(4, moved)]),
    ],
    ["creates nothing while frozen", "frozen", () => planOf(3, several(1), frozen)],
    ["still shrinks while frozen", "-m0 -m1", () => planOf(1, several(3), frozen)],
    [
      "creates nothing while scale-up is disabled, whatever the value of the label",
      "scale-up disabled",
      () => planOf(3, several(2), labeled({ [labelKeys.scaleUpDisabled]: "" })),
    ],
    [
      "takes freeze only with a capital letter, as the Go implementation does",
      "+1",
      () => planOf(3, several(2), labeled({ [labelKeys.freeze]: "true" })),
    ],
    ["reports no block when nothing is missing", "", () => planOf(3, several(3), frozen)],
  ])("%s", (_, expected, plan) => {
    expect(plan()).toBe(expected);
  });

  it.each<[string, boolean, Change<Machine>]>([
    ["replaces a Failed machine without a preservation request", true, {}],
    [
      "keeps a Failed machine until its preservation expires",
      false,
      { status: { currentStatus: { preserveExpiryTime: future } } },
    ],
    [
      "replaces it when the preservation has expired, whatever is asked for",
      true,
      { ...annotated({ [annotationKeys.preserve]: "now" }), status: { currentStatus: { preserveExpiryTime: before } } },
    ],
    ["keeps a Failed machine that is to be preserved now", false, annotated({ [annotationKeys.preserve]: "now" })],
    [
      "keeps a Failed machine that is to be preserved when it fails",
      false,
      annotated({ [annotationKeys.preserve]: "when-failed" }),
    ],
    [
      "keeps a Failed machine that is preserved automatically",
      false,
      annotated({ [annotationKeys.preserve]: "auto-preserved" }),
    ],
    ["replaces a Failed machine that must not be preserved", true, annotated({ [annotationKeys.preserve]: "false" })],
    [
      "replaces a Failed machine with an unknown preserve value",
      true,
      annotated({ [annotationKeys.preserve]: "please" }),
    ],
  ])("%s", (_, isReplaced, change) => {
    expect(planOf(1, [machine(0, failed, change)])).toBe(isReplaced ? "-m0" : "");
  });

  it("deletes no more than a hundred at once", () => {
    const plan = planReplicas({ set: aMachineSet({ spec: { replicas: 0 } }), owned: several(130, failed), now });
    expect(plan.remove).toHaveLength(BURST);
  });

  it("creates no more than there is room for, and reports that", () => {
    const roomFor = (room: number) => {
      const { create, blocked } = planReplicas({ set: aMachineSet(), owned: [], now, room });
      return [create, blocked?.by];
    };
    expect(roomFor(3)).toEqual([3, undefined]);
    expect(roomFor(2)).toEqual([2, "maximum reached"]);
    expect(roomFor(-4)).toEqual([0, "maximum reached"]);
    // Creations left to a later reconcile are not blocked.
    const many = planReplicas({ set: aMachineSet({ spec: { replicas: 200 } }), owned: [], now, room: 200 });
    expect(many).toEqual({ create: BURST, remove: [], kept: [] });
  });

  it("creates up to the wanted number, deletes each machine at most once, and never below it without a reason", () => {
    const phase = fc.constantFrom<MachinePhase>(
      "",
      "Pending",
      "Running",
      "Available",
      "Unknown",
      "Failed",
      "Terminating",
    );
    const kind = fc.record({ phase, mark: fc.constantFrom("none", "due", "early"), isMoved: fc.boolean() });
    fc.assert(
      fc.property(fc.nat(8), fc.array(kind, { maxLength: 8 }), (replicas, kinds) => {
        const machines = kinds.map(({ phase: each, mark, isMoved }, index) =>
          machine(
            index,
            inPhase(each),
            mark === "none" ? {} : marked(mark === "due" ? before : after),
            isMoved ? moved : {},
          ),
        );
        const set = aMachineSet({ spec: { replicas } }, scaledSet);
        const { create, remove } = planReplicas({ set, owned: machines, now });
        const present = kinds.filter((each) => each.phase !== "Terminating");
        const settled = present.filter(({ isMoved }) => !isMoved);
        const unwanted = settled.filter((each) => each.phase === "Failed" || each.mark === "due").length;

        expect(create).toBe(Math.max(0, replicas - present.length));
        expect(new Set(remove).size).toBe(remove.length);
        expect(remove.length).toBeGreaterThanOrEqual(Math.max(unwanted, settled.length - replicas));
        expect(remove.length).toBeLessThanOrEqual(unwanted + Math.max(0, settled.length - replicas));
      }),
    );
  });
});

describe("protected machines", () => {
  const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
  const plan = (
    replicas: number,
    owned: readonly Machine[],
    leaving: ReadonlySet<string> = new Set(),
    belongsToOther?: (machine: Machine) => boolean,
  ) => {
    const { remove, kept } = planReplicas({
      belongsToOther,
      set: aMachineSet({ spec: { replicas } }, scaledSet),
      owned,
      now,
      leaving,
    });
    return {
      remove: remove.map(({ machine }) => machine.metadata.name),
      kept: kept.map(({ metadata }) => metadata.name),
    };
  };

  it("are not selected while others would do, whatever their order", () => {
    const owned = [machine(0, isKept), machine(1, failed, isKept), machine(2), machine(3)];
    expect(plan(2, owned)).toEqual({ remove: ["m2", "m3"], kept: ["m1"] });
    expect(plan(3, [machine(0, isKept), machine(1), machine(2), machine(3)])).toEqual({ remove: ["m1"], kept: [] });
  });

  it("stay surplus where their VM is that of another Machine: no real machine is deleted in the place of a copy", () => {
    const owned = [machine(0), machine(1), machine(2), machine(3, isKept)];
    const isCopy = ({ metadata }: Machine): boolean => metadata.name === "m3";
    const planned = [4, 3, 2].map((replicas) => plan(replicas, owned, new Set(), isCopy));
    expect(planned).toEqual([
      { remove: [], kept: [] },
      { remove: [], kept: ["m3"] },
      { remove: ["m0"], kept: ["m3"] },
    ]);
  });

  it("are kept where only they are left, the most dispensable named", () => {
    const owned = [machine(0, isKept), machine(1, isKept), machine(2)];
    expect(plan(1, owned)).toEqual({ remove: ["m2"], kept: ["m0"] });
    expect(plan(0, owned)).toEqual({ remove: ["m2"], kept: ["m0", "m1"] });
  });

  it("are not replaced when they are Failed, and not deleted when the cluster-autoscaler marks them", () => {
    expect(plan(2, [machine(0, failed, isKept), machine(1, marked(before), isKept)])).toEqual({
      remove: [],
      kept: ["m1", "m0"],
    });
  });

  it("count as machines of the set beside one whose deletion got no response", () => {
    const owned = [machine(0, isKept), machine(1), machine(2)];
    expect(plan(1, owned, new Set(["uid-m1"]))).toEqual({ remove: ["m2"], kept: [] });
  });
});
