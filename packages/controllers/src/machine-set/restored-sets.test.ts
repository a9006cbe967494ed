import { annotationKeys, type Machine, type MachineSet } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { adoptionAnnotation } from "../ownership/adoption.ts";
import type { OwnerlessVms } from "../model/vm-census.ts";
import { aMachine, aMachineSet, annotated, beingDeleted, type Change, named, ownedBy } from "../testing/builders.ts";
import { testNow, withVm } from "../testing/snapshots.ts";
import { decideMachineSet } from "./decide.ts";
import { machineSetSnapshot } from "./observe.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

const former = aMachineSet({ metadata: { uid: "former" } });
const machines = (count: number, ...changes: readonly Change<Machine>[]): readonly Machine[] =>
  Array.from({ length: count }, (_, index) => aMachine(withVm, named(`m${index}`), ...changes));
const lost = (count: number): readonly Machine[] => machines(count, ownedBy(former), beingDeleted());
const expecting = (value: string): Change<MachineSet> => annotated({ [annotationKeys.expectedReplicas]: value });

/** The decision about a set of three. */
function decide(
  set: MachineSet,
  {
    own = [],
    others = [],
    ...more
  }: { own?: readonly Machine[]; others?: readonly Machine[] } & Partial<MachineSetSnapshot>,
) {
  const isMissing = ({ uid }: { readonly uid: string }): boolean => uid === former.metadata.uid;
  const sources = { controlled: own, others, isMissing, deployment: () => undefined, nodesOf: () => new Map() };
  return decideMachineSet({ ...machineSetSnapshot(set, sources), ...more }, testNow);
}
const recorded = (value: string | null) => ({
  kind: "PatchSet",
  patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: value } } },
});
const known = (count: number): OwnerlessVms => ({ state: "known", count });

/** Adopted at the time of the tests in place of an owner that does not exist, and deleted so long after that. */
const deletedAfter = (ms: number) => ({
  metadata: {
    annotations: adoptionAnnotation(aMachine(ownedBy(former)), testNow),
    deletionTimestamp: apiTime(new Date(testNow.getTime() + ms)),
  },
});

describe("a set whose machines the garbage collector deletes a moment after their adoption", () => {
  const set = aMachineSet();

  it("counts them among the lost, and creates no others", () => {
    const own = [...machines(2, ownedBy(set)), aMachine(withVm, named("m2"), ownedBy(set), deletedAfter(1_000))];
    const { actions, because } = decide(set, { own });
    expect(actions).toEqual([recorded("3")]);
    expect(because).toMatchObject([{ reason: "MachinesVanished" }]);
  });

  it("replaces one that is deleted later than the garbage collector does", () => {
    const own = [...machines(2, ownedBy(set)), aMachine(withVm, named("m2"), ownedBy(set), deletedAfter(301_000))];
    expect(decide(set, { own }).actions).toEqual([{ kind: "CreateMachines", count: 1 }]);
  });
});

describe("a set whose machines are held because their owner does not exist", () => {
  it("records them, creates no others, and shows them", () => {
    const { actions, status, because } = decide(aMachineSet(), { others: lost(3) });
    expect(actions).toEqual([recorded("3")]);
    expect(because).toMatchObject([{ reason: "MachinesVanished" }]);
    expect(status?.machineSetCondition).toContainEqual(
      expect.objectContaining({
        type: "DeletionsHeld",
        status: "True",
        message: expect.stringMatching(
          /^Deletion of 3 machines is held: their owner does not exist.*millwright restore/,
        ),
      }),
    );
  });

  it("counts those that the garbage collector has taken their owner off", () => {
    expect(decide(aMachineSet(), { others: machines(3, beingDeleted()) }).actions).toEqual([recorded("3")]);
  });

  it.each([
    ["VMs without Machine may exist", false],
    ["no VM is without Machine, as those of held machines", true],
  ])("waits for them with those that it has, and shows them, where %s", (_, hasNoOwnerlessVms) => {
    const { actions, status } = decide(aMachineSet(expecting("3")), {
      own: machines(1, ownedBy(aMachineSet())),
      others: lost(2),
      hasNoOwnerlessVms,
    });
    expect(actions).toEqual([]);
    expect(status?.machineSetCondition).toContainEqual(expect.objectContaining({ type: "DeletionsHeld" }));
  });

  it("counts those that it adopts, and waits for more that are held than it recorded", () => {
    const adopted = machines(2, ownedBy(former));
    expect(decide(aMachineSet(), { others: [...adopted, ...lost(1)] }).actions).toEqual([recorded("3")]);
    const own = machines(2, ownedBy(aMachineSet()));
    expect(decide(aMachineSet(expecting("2")), { own, others: lost(1) }).actions).toEqual([]);
  });

  it("creates others when a user has removed the record, or approves", () => {
    const created = [{ kind: "CreateMachines", count: 3 }];
    expect(decide(aMachineSet(), { others: lost(3), memory: { lostBefore: 3 } }).actions).toEqual(created);
    expect(
      decide(aMachineSet(expecting("3")), { others: lost(3), budget: { ...noBudget, isApproved: true } }).actions,
    ).toEqual([recorded(null), ...created]);
  });

  it("adopts those that are not terminating", () => {
    expect(decide(aMachineSet(), { others: machines(3, ownedBy(former)) }).actions).toEqual(
      ["m0", "m1", "m2"].map((name) => ({ kind: "AdoptMachine", name })),
    );
  });
});

const noBudget: NonNullable<MachineSetSnapshot["budget"]> = {
  share: 0.5,
  scopes: [],
  isApproved: false,
  counted: new Set(),
  rate: { count: 50, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 0 },
  requested: undefined,
};

describe("a set that was restored from a file", () => {
  const unverified = aMachineSet(expecting("unknown"));

  it("is marked before anything else where it names a deployment that does not exist", () => {
    expect(decide(aMachineSet(), { isLost: true }).actions).toEqual([recorded("unknown")]);
    const status = { observedGeneration: 1 };
    expect(decide(aMachineSet({ status }), { isLost: true }).actions).toEqual([{ kind: "CreateMachines", count: 3 }]);
  });

  it("creates nothing while VMs are listed", () => {
    const { actions, requeueAfterMs } = decide(unverified, { lostVms: { state: "listing", forMs: 5_000 } });
    expect([actions, requeueAfterMs]).toEqual([[], 5_000]);
  });

  it("waits for as many machines as it has VMs without Machine", () => {
    expect(decide(unverified, { own: machines(1, ownedBy(aMachineSet())), lostVms: known(2) }).actions).toEqual([
      recorded("3"),
    ]);
  });

  it("creates its machines where it has no VMs", () => {
    expect(decide(unverified, { lostVms: known(0) }).actions).toEqual([
      recorded(null),
      { kind: "CreateMachines", count: 3 },
    ]);
  });

  it("loses the mark when it has all machines", () => {
    expect(decide(unverified, { own: machines(3, ownedBy(aMachineSet())), lostVms: known(1) }).actions).toEqual([
      recorded(null),
    ]);
  });
});

describe("a terminating set whose deployment does not exist", () => {
  const terminating = aMachineSet(beingDeleted());
  const own = machines(2, ownedBy(aMachineSet()));
  const names = (kind: string) => ["m0", "m1"].map((name) => expect.objectContaining({ kind, name }));

  it("releases its machines, which the next set of the deployment adopts", () => {
    expect(decide(terminating, { own, isLost: true }).actions).toEqual(names("OrphanMachine"));
  });

  it("deletes them where that is approved, or where the deployment exists", () => {
    const budget = { ...noBudget, isApproved: true };
    expect(decide(terminating, { own, isLost: true, budget }).actions).toEqual(names("DeleteMachine"));
    expect(decide(terminating, { own }).actions).toEqual(names("DeleteMachine"));
  });
});
