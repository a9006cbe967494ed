import { annotationKeys, type Machine, type MachineSet, validateMachineSet } from "@millwright/core/machine-api";
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
import { expectedReplicasOf, restoreHold } from "./expected-replicas.ts";
import { decideMachineSet } from "./decide.ts";
import { crdHoldOfOwner } from "../crd-guard/crd-hold.ts";
import { decideHeld } from "./decide-held.ts";
import type { MachineSetSnapshot } from "./snapshot.ts";

const now = new Date("2026-01-02T00:00:00Z");
const terminating: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "terminating",
  createdAt: 0,
  deletedAt: now.getTime(),
  isDeletionAllowed: false,
};
const expects = (count: string): Change<MachineSet> => annotated({ [annotationKeys.expectedReplicas]: count });

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
function pause(set: MachineSet, owned: readonly Change<Machine>[]) {
  const machines = owned.map((change, index) => aMachine(named(`m${index}`), ownedBy(set), inPhase("Running"), change));
  return decideHeld(set, machines, crdHoldOfOwner(terminating), now);
}
const kinds = ({ actions }: ReturnType<typeof decide>): readonly string[] => actions.map(({ kind }) => kind);

describe("a set that a CRD pauses", () => {
  it("records how many machines it has, creates and deletes none, and reports why in one condition", () => {
    const set = aMachineSet({ status: { replicas: 3, readyReplicas: 3 } });
    const { actions, status, because } = pause(set, [beingDeleted(), beingDeleted(), {}]);
    expect(actions).toEqual([
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "3" } } } },
    ]);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(status?.machineSetCondition).toMatchObject([{ type: "CRDsEstablished", status: "False" }]);
    expect(because.map(({ reason }) => reason)).toEqual(["CRDDeleted"]);
  });

  it("does not count machines in phase Terminating, and records nothing without machines or twice", () => {
    expect(pause(aMachineSet(), [inPhase("Terminating"), {}]).actions).toMatchObject([
      { patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "1" } } } },
    ]);
    expect(pause(aMachineSet(), []).actions).toEqual([]);
    expect(pause(aMachineSet(expects("5")), [{}]).actions).toEqual([]);
  });

  it("also counts, by its status, machines that were deleted before it was observed", () => {
    const set = aMachineSet({ status: { replicas: 3 } });
    const recorded = (owned: readonly Change<Machine>[]): unknown => pause(set, owned).actions;
    const expecting = (count: string) => [
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: count } } } },
    ];
    expect(recorded([])).toEqual(expecting("3"));
    expect(recorded([beingDeleted()])).toEqual(expecting("3"));
    expect(recorded([beingDeleted(), inPhase("Terminating")])).toEqual(expecting("2"));
  });

  it("keeps its machines though it is terminating itself", () => {
    expect(kinds(pause(aMachineSet(beingDeleted(), expects("2")), [{}, {}]))).toEqual([]);
  });
});

describe("a set that is missing machines", () => {
  it("creates none in their place and deletes none, but adopts those that are recreated", () => {
    const decision = decide(aMachineSet(expects("3")), [{}, inPhase("Failed")], {}, ["back"]);
    expect(kinds(decision)).toEqual(["AdoptMachine"]);
    expect(decision.blocked).toBe(restoreHold);
  });

  it("continues when all are back", () => {
    expect(decide(aMachineSet(expects("3")), [{}, {}, {}]).actions).toEqual([
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: null } } } },
    ]);
  });

  it("goes on with fewer replicas, keeps the record, and shows whose VMs wait", () => {
    const set = aMachineSet(expects("3"), { spec: { replicas: 1 } });
    const { actions, status } = decide(set, [{}]);
    expect(actions).toEqual([]);
    expect(status?.machineSetCondition).toContainEqual(
      expect.objectContaining({
        type: "DeletionsHeld",
        status: "True",
        message: expect.stringMatching(/^Lost Machines of MachineSet set: 2\. Their VMs may still run and are kept/),
      }),
    );
    expect(kinds(decide(set, [{}], { hasNoOwnerlessVms: true }))).toEqual(["PatchSet"]);
  });

  it("records the machines of which a creation is held, and creates none of them", () => {
    const budget = {
      share: 0.5,
      scopes: [],
      isApproved: false,
      counted: new Set<string>(),
      rate: { count: 50, limit: 50, scope: { kind: "MachineClass", name: "small" }, moreInMs: 0 },
      requested: undefined,
    } as const;
    const set = aMachineSet({ spec: { replicas: 14 } });
    const ownerless = new Map([[11, { state: "known", count: 12 } as const]]);
    expect(decide(set, [{}, {}], { budget, ownerless }).actions).toEqual([
      { kind: "PatchSet", patch: { metadata: { annotations: { [annotationKeys.expectedReplicas]: "14" } } } },
    ]);
  });

  it("expects none where the CRD allows their deletion", () => {
    expect(
      kinds(decide(aMachineSet(expects("3")), [{}], { machineCrd: { isDeletionAllowed: true, isTerminating: false } })),
    ).toEqual(["PatchSet", "CreateMachines"]);
  });

  it("creates none while the CRD is terminating: the API server would reject them", () => {
    expect(
      kinds(decide(aMachineSet(), [beingDeleted()], { machineCrd: { isDeletionAllowed: true, isTerminating: true } })),
    ).toEqual([]);
  });

  it("removes the condition", () => {
    const condition = {
      type: "CRDsEstablished",
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    } as const;
    const { status } = decide(aMachineSet({ status: { machineSetCondition: [condition] } }), [{}, {}, {}]);
    expect(status?.machineSetCondition?.map(({ type }) => type)).not.toContain("CRDsEstablished");
  });

  it.each(["0", "-1", "x", "1.5", "", "9999999999"])("takes %j for no number of machines", (text) => {
    expect(expectedReplicasOf(aMachineSet(expects(text)))).toBeUndefined();
  });
});
