import { annotationKeys, type Machine, type MachineSet, validateMachineSet } from "@millwright/core";
import { claimObjects } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { CrdState } from "../model/crd-state.ts";
import {
  aMachine,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { awaitedMachines } from "./awaited-machines.ts";
import { decideMachineSet } from "./decide.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

const now = new Date("2026-01-02T00:00:00Z");
const falling: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "going",
  createdAt: 0,
  deletedAt: now.getTime(),
  isMeant: false,
};
const awaits = (count: string): Change<MachineSet> => annotated({ [annotationKeys.expectedReplicas]: count });

function decide(
  set: MachineSet,
  owned: readonly Change<Machine>[],
  more: Partial<MachineSetSnapshot> = {},
  orphans: readonly string[] = [],
) {
  const machines = [
    ...owned.map((change, index) => aMachine(named(`m${index}`), ownedBy(set), inPhase("Running"), change)),
    ...orphans.map((name) => aMachine(named(name), inPhase("Running"))),
  ];
  const claim = claimObjects(set, machines, () => true);
  return decideMachineSet({ set, claim, problems: validateMachineSet(set), ...more }, now);
}
const kinds = ({ actions }: ReturnType<typeof decide>): readonly string[] => actions.map(({ kind }) => kind);

describe("a set while a definition is being deleted", () => {
  it("notes how many machines it has, makes and deletes none, and says why in one condition", () => {
    const set = aMachineSet({ status: { replicas: 3, readyReplicas: 3 } });
    const { actions, status, because } = decide(set, [beingDeleted(), beingDeleted(), {}], { standstill: falling });
    expect(actions).toEqual([
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "3" } } } },
    ]);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(status?.machineSetCondition).toMatchObject([{ type: "CRDsEstablished", status: "False" }]);
    expect(because.map(({ reason }) => reason)).toEqual(["CRDDeleted"]);
  });

  it("does not count machines that are being taken apart, and notes nothing without machines or twice", () => {
    const more = { standstill: falling };
    expect(decide(aMachineSet(), [inPhase("Terminating"), {}], more).actions).toMatchObject([
      { patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "1" } } } },
    ]);
    expect(decide(aMachineSet(), [], more).actions).toEqual([]);
    expect(decide(aMachineSet(awaits("5")), [{}], more).actions).toEqual([]);
  });

  it("counts those too that were let go before anybody looked, by its status", () => {
    const set = aMachineSet({ status: { replicas: 3 } });
    const noted = (owned: readonly Change<Machine>[]): unknown => decide(set, owned, { standstill: falling }).actions;
    const awaiting = (count: string) => [
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: count } } } },
    ];
    expect(noted([])).toEqual(awaiting("3"));
    expect(noted([beingDeleted()])).toEqual(awaiting("3"));
    expect(noted([beingDeleted(), inPhase("Terminating")])).toEqual(awaiting("2"));
  });

  it("keeps its machines though it is on its way out itself", () => {
    expect(kinds(decide(aMachineSet(beingDeleted(), awaits("2")), [{}, {}], { standstill: falling }))).toEqual([]);
  });
});

describe("a set that awaits machines", () => {
  it("makes none in their place and deletes none, but takes back those that come", () => {
    const decision = decide(aMachineSet(awaits("3")), [{}, inPhase("Failed")], {}, ["back"]);
    expect(kinds(decision)).toEqual(["AdoptMachine"]);
    expect(decision.blocked).toBe("machines are awaited");
  });

  it("goes on when all are back, or as many as it is to have", () => {
    expect(decide(aMachineSet(awaits("3")), [{}, {}, {}]).actions).toEqual([
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } } },
    ]);
    expect(kinds(decide(aMachineSet(awaits("3"), { spec: { replicas: 1 } }), [{}]))).toEqual(["PatchSet"]);
  });

  it("awaits none that somebody said may be lost", () => {
    expect(kinds(decide(aMachineSet(awaits("3")), [{}], { isLossMeant: true }))).toEqual([
      "PatchSet",
      "CreateMachines",
    ]);
  });

  it("makes none for those that go with their definition on purpose: the API server would take none", () => {
    expect(kinds(decide(aMachineSet(), [beingDeleted()], { isLossMeant: true, isKindEnding: true }))).toEqual([]);
  });

  it("no longer says that it stands still", () => {
    const condition = {
      type: "CRDsEstablished",
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const { status } = decide(aMachineSet({ status: { machineSetCondition: [condition] } }), [{}, {}, {}]);
    expect(status?.machineSetCondition?.map(({ type }) => type)).not.toContain("CRDsEstablished");
  });

  it.each(["0", "-1", "x", "1.5", "", "9999999999"])("takes %j for no number of machines", (text) => {
    expect(awaitedMachines(aMachineSet(awaits(text)))).toBeUndefined();
  });
});
