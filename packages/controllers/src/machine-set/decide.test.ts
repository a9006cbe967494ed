import {
  annotationKeys,
  labelKeys,
  type Machine,
  type MachineDeployment,
  type MachineSet,
  type MachineSetStatus,
  validateMachineSet,
} from "@millwright/core/machine-api";
import { claimObjects, findCondition } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { unreadTargetHold } from "../cluster/unread-target.ts";
import { protectedOwnerHold } from "../model/deletion-protection.ts";
import type { Hold } from "../model/hold.ts";
import { decideMachineSet } from "./decide.ts";
import type { MachineSetAction, Pending } from "./snapshot.ts";
import type { OvershootMargins } from "../safety/overshoot-limits.ts";
import type { ReplicaFailure } from "./status.ts";

const now = new Date("2026-01-02T00:00:00Z");
const machine = (name: string, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(named(name), inPhase("Running"), ...changes);

interface Case {
  readonly set?: Change<MachineSet>;
  readonly owned?: readonly Change<Machine>[];
  readonly orphans?: readonly string[];
  readonly strangers?: readonly string[];
  readonly failure?: ReplicaFailure;
  readonly deployment?: MachineDeployment;
  readonly pending?: Pending;
  readonly controlled?: number;
  readonly margins?: OvershootMargins;
  readonly heldBy?: readonly Hold[];
}

/** Decides about a set and machines; those of `strangers` are its own without its labels. */
function decide({ set: change = {}, owned = [], orphans = [], strangers = [], failure, pending, ...rest }: Case) {
  const set = aMachineSet(change);
  const machines = [
    ...owned.map((each, index) => machine(`m${index}`, ownedBy(set), each)),
    ...orphans.map((name) => machine(name)),
    ...strangers.map((name) => machine(name, ownedBy(set), { metadata: { labels: null } })),
  ];
  const isWanted = ({ metadata }: Machine) =>
    set.metadata.deletionTimestamp !== undefined || metadata.labels?.["name"] === "pool";
  const claim = claimObjects(set, machines, isWanted);
  return decideMachineSet(
    { set, claim, problems: validateMachineSet(set), memory: { failure, pending }, ...rest },
    now,
  );
}

const line = ({ kind, ...rest }: MachineSetAction): string =>
  [kind, ...Object.values(rest).map((part) => (typeof part === "object" ? JSON.stringify(part) : String(part)))].join(
    " ",
  );
const actionsOf = (given: Case): readonly string[] => decide(given).actions.map(line);

describe("decideMachineSet", () => {
  it.each<[string, Case, readonly string[]]>([
    ["sets its finalizer before it makes anything", { set: { metadata: { finalizers: null } } }, ["AddFinalizer"]],
    ["creates what is missing", { owned: [{}, {}] }, ["CreateMachines 1"]],
    ["does nothing when all is as it should be", { owned: [{}, {}, {}] }, []],
    [
      "deletes the very machine that is surplus",
      { owned: [{}, {}, {}, inPhase("Failed")] },
      ["DeleteMachine m3 uid-m3"],
    ],
    [
      "adopts orphans before it creates, lest there be too many",
      { owned: [{}], orphans: ["orphan"] },
      ["AdoptMachine orphan"],
    ],
    [
      "releases machines that its selector no longer matches, and replaces them when they are gone",
      { owned: [{}], strangers: ["stray"] },
      ["ReleaseMachine stray", "CreateMachines 1"],
    ],
    [
      "hands changes of the template down",
      { set: { spec: { replicas: 1, template: { spec: { drainTimeout: "1h" } } } }, owned: [{}] },
      ['PatchMachine m0 {"spec":{"drainTimeout":"1h"}}'],
    ],
    [
      "deletes and creates in the same pass",
      { owned: [{}, inPhase("Failed")] },
      ["DeleteMachine m1 uid-m1", "CreateMachines 1"],
    ],
    ["follows no invalid spec", { set: { spec: { replicas: -1 } }, owned: [{}] }, []],
    ["follows no spec without a selector", { set: { spec: { selector: null } } }, []],
    [
      "follows no spec whose selector selects everything",
      { set: { spec: { selector: { matchLabels: { name: null } } } } },
      [],
    ],
    [
      "deletes its machines, each once, while it is terminating",
      { set: beingDeleted(), owned: [{}, beingDeleted(), {}] },
      ["DeleteMachine m0 uid-m0", "DeleteMachine m2 uid-m2"],
    ],
    [
      "deletes machines that it controls without selecting them while it is terminating",
      { set: beingDeleted(), strangers: ["stray"] },
      ["DeleteMachine stray uid-stray"],
    ],
    ["waits for the last machine while it is terminating", { set: beingDeleted(), owned: [beingDeleted()] }, []],
    ["adopts nothing while it is terminating", { set: beingDeleted(), orphans: ["orphan"] }, ["RemoveFinalizer"]],
    [
      "goes when its last machine is gone, be its spec valid or not",
      { set: { ...beingDeleted(), spec: { selector: null } } },
      ["RemoveFinalizer"],
    ],
    [
      "does nothing while terminating without its finalizer",
      { set: { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [] } }, owned: [{}] },
      [],
    ],
  ])("%s", (_, given, expected) => {
    expect(actionsOf(given)).toEqual(expected);
  });

  it("deletes by a UID that no machine has when it does not know the UID", () => {
    const { uid: _, ...metadata } = machine("m").metadata;
    const owned = [{ ...machine("m"), metadata }];
    const set = aMachineSet({ spec: { replicas: 0 } });
    const { actions } = decideMachineSet({ set, claim: { owned, adopt: [], release: [] }, problems: [] }, now);
    expect(actions).toEqual([{ kind: "DeleteMachine", name: "m", uid: "" }]);
  });

  describe("an invalid spec", () => {
    const invalid = { spec: { replicas: -1 } };
    const statusAfter = (set: Change<MachineSet>): MachineSetStatus => {
      const { status } = decide({ set });
      if (status === undefined) throw new Error("a set that stays has a status");
      return status;
    };

    it("is reported once, and again when it is invalid in another way", () => {
      const first = decide({ set: invalid });
      expect(first.because).toMatchObject([{ type: "Warning", reason: "InvalidSpec" }]);
      expect(first.because[0]?.message).toContain("spec.replicas");
      const status = statusAfter(invalid);
      expect(decide({ set: { ...invalid, status } }).because).toEqual([]);
      expect(decide({ set: { spec: { selector: null }, status } }).because).toHaveLength(1);
    });

    it("is followed by a valid one without a word but the condition", () => {
      const healed = decide({ set: { status: statusAfter(invalid) }, owned: [{}, {}, {}] });
      expect(healed.because).toEqual([]);
      expect(findCondition(healed.status?.machineSetCondition, "SpecValid")?.status).toBe("True");
    });
  });

  it("shows a failure only as long as there is something left to try", () => {
    const failure: ReplicaFailure = { reason: "FailedCreate", message: "quota exceeded" };
    const failureOf = (given: Case) =>
      findCondition(decide({ ...given, failure }).status?.machineSetCondition, "ReplicaFailure")?.message;
    expect(failureOf({ owned: [{}] })).toBe("quota exceeded");
    expect(failureOf({ owned: [{}, {}, {}] })).toBeUndefined();
    expect(failureOf({ owned: [{}], set: labeled({ [labelKeys.scaleUpDisabled]: "true" }) })).toBeUndefined();
    expect(failureOf({ owned: [{}], set: { spec: { replicas: -1 } } })).toBeUndefined();
  });

  describe("with too many machines", () => {
    const states = (given: Case) => {
      const { status, because } = decide(given);
      const condition = findCondition(status?.machineSetCondition, "Frozen");
      return [
        ...actionsOf(given),
        ...(condition === undefined ? [] : [condition.message]),
        ...because.map(({ reason }) => reason),
      ];
    };
    const frozen = labeled({ [labelKeys.freeze]: "True" });
    const limit = "The number of machines backing MachineSet: set is 8 >= 8 which is the Max-ScaleUp-Limit";
    const label = 'PatchSet {"metadata":{"labels":{"freeze":"True"}}}';
    const several = (count: number, change: Change<Machine> = {}) => Array.from({ length: count }, () => change);

    it("freezes the set and still deletes surplus machines", () => {
      expect(states({ owned: several(8) })).toEqual([
        label,
        ...["m0", "m1", "m2", "m3", "m4"].map((name) => `DeleteMachine ${name} uid-${name}`),
        limit,
        "FrozeMachineSet",
      ]);
    });

    it("makes none beyond the limit, whatever is missing, with those counted that go", () => {
      const going = several(7, beingDeleted());
      expect(actionsOf({ owned: going })).toEqual(["CreateMachines 1"]);
      expect(states({ owned: [...going, beingDeleted()] })).toEqual([label, limit, "FrozeMachineSet"]);
      // A set that was there before is not frozen for it, and makes none all the same.
      const before = { owned: [...going, beingDeleted()], set: { status: { replicas: 8 } } };
      expect(states(before)).toEqual([]);
      expect(decide(before).blocked?.by).toBe("maximum reached");
    });

    it("counts what it controls without selecting it", () => {
      expect(actionsOf({ owned: several(1), controlled: 7 })).toEqual(["CreateMachines 1"]);
      expect(actionsOf({ owned: several(1), strangers: ["a", "b", "c", "d", "e", "f", "g"] })).toContain(label);
    });

    it("counts what it may have made without an answer", () => {
      const pending = { count: 7, leaving: new Set<string>(), overdueInMs: 5_000 };
      expect(actionsOf({ set: { spec: { replicas: 10 } }, pending }).at(-1)).toBe("CreateMachines 3");
      expect(actionsOf({ owned: several(5, beingDeleted()), pending: { ...pending, count: 2 } })).toEqual([
        "CreateMachines 1",
      ]);
    });

    it("goes by its deployment's size and surge where it has one", () => {
      const deployment = aMachineDeployment();
      expect(states({ owned: several(5), deployment })).toEqual(["DeleteMachine m0 uid-m0", "DeleteMachine m1 uid-m1"]);
      expect(states({ owned: several(6), deployment })).toContain(label);
      expect(actionsOf({ owned: several(5, beingDeleted()), deployment })).toEqual(["CreateMachines 1"]);
    });

    it("goes by its own margins where it has some", () => {
      expect(states({ owned: several(6), margins: { up: 0, down: 0 } })).toContain(label);
    });

    it("unfreezes in the pass that goes on", () => {
      expect(states({ owned: several(1), set: frozen })).toEqual([
        'PatchSet {"metadata":{"labels":{"freeze":null}}}',
        "CreateMachines 2",
      ]);
    });
  });

  describe("with failures to keep", () => {
    const failed = inPhase("Failed");
    const keeping = (max: number): Change<MachineSet> => ({ spec: { autoPreserveFailedMachineMax: max } });

    it("keeps a failure by a patch for the version it saw, and replaces none that it keeps", () => {
      expect(
        actionsOf({ set: keeping(1), owned: [{}, {}, { ...failed, metadata: { resourceVersion: "7" } }] }),
      ).toEqual([
        'PatchMachine m2 {"metadata":{"annotations":{"node.machine.sapcloud.io/preserve":"auto-preserved"},"resourceVersion":"7"}}',
      ]);
    });

    it("replaces the failures beyond those, and touches none that goes", () => {
      expect(actionsOf({ set: keeping(1), owned: [{}, failed, failed] })).toEqual([
        'PatchMachine m2 {"metadata":{"annotations":{"node.machine.sapcloud.io/preserve":"auto-preserved"}}}',
        "DeleteMachine m1 uid-m1",
      ]);
      expect(actionsOf({ set: { spec: { replicas: 0, autoPreserveFailedMachineMax: 1 } }, owned: [failed] })).toEqual([
        "DeleteMachine m0 uid-m0",
      ]);
    });

    it("neither keeps nor replaces a failure while the Nodes were never listed, whose annotations come first", () => {
      expect(actionsOf({ set: keeping(1), owned: [{}, failed, failed], heldBy: [unreadTargetHold] })).toEqual([]);
    });

    it("takes back a preservation in the same patch as what the template changed", () => {
      const set = {
        spec: { autoPreserveFailedMachineMax: 0, replicas: 1, template: { spec: { drainTimeout: "1h" } } },
      };
      const owned = [annotated({ [annotationKeys.preserve]: "auto-preserved" })];
      expect(actionsOf({ set, owned })).toEqual([
        'PatchMachine m0 {"spec":{"drainTimeout":"1h"},"metadata":{"annotations":{"node.machine.sapcloud.io/preserve":null}}}',
      ]);
    });

    it("looks again when the first preservation ends, or sooner where an answer is due", () => {
      const until = (preserveExpiryTime: string) =>
        ({ status: { currentStatus: { phase: "Failed", preserveExpiryTime } } }) as const;
      const owned = [until("2026-01-02T02:00:00Z"), until("2026-01-02T01:00:00Z"), until("2026-01-01T00:00:00Z"), {}];
      expect(decide({ owned }).requeueAfterMs).toBe(3_600_000);
      const pending = { count: 0, leaving: new Set<string>(), overdueInMs: 5_000 };
      expect(decide({ owned, pending }).requeueAfterMs).toBe(5_000);
      expect(decide({}).requeueAfterMs).toBeUndefined();
    });
  });

  it("deletes no other machine for one that may be terminating", () => {
    const pending = { count: 0, leaving: new Set(["uid-m0"]), overdueInMs: 5_000 };
    expect(actionsOf({ owned: [{}, {}, {}, {}], pending })).toEqual([]);
    expect(actionsOf({ owned: [{}, {}, {}, {}, {}], pending })).toEqual(["DeleteMachine m1 uid-m1"]);
    // It may stay, too: nothing is made in its place yet.
    expect(actionsOf({ owned: [{}, {}, {}], pending })).toEqual([]);
  });

  it("counts down in its status while it is deleted, and writes none with the last finalizer", () => {
    expect(decide({ set: beingDeleted(), owned: [beingDeleted()] }).status?.replicas).toBe(1);
    expect(decide({ set: beingDeleted() }).status).toBeUndefined();
  });
});

describe("deletion protection", () => {
  const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
  const conditionOf = ({ status }: ReturnType<typeof decide>) =>
    findCondition(status?.machineSetCondition ?? [], "DeletionProtected");

  it("is reported once where only protected machines are left to delete, and nothing is deleted", () => {
    const given: Case = { set: { spec: { replicas: 1 } }, owned: [isKept, isKept] };
    const first = decide(given);
    expect(first.actions).toEqual([]);
    const message =
      "Cannot delete protected machines: m0. To delete them, remove their annotation machine.millwright.dev/deletion-protection";
    expect(conditionOf(first)).toMatchObject({ status: "True", reason: "MachinesProtected", message });
    expect(first.because).toEqual([{ type: "Warning", reason: "DeletionProtected", message }]);
    const status = first.status as unknown as MachineSetStatus;
    const later = decide({ ...given, set: { spec: { replicas: 1 }, status } });
    expect(later.because).toEqual([]);
    const over = decide({ ...given, set: { spec: { replicas: 2 }, status } });
    expect(conditionOf(over)).toBeUndefined();
  });

  it("lets a terminating set delete the other machines, and keeps the set", () => {
    const decision = decide({ set: beingDeleted(), owned: [isKept, {}] });
    expect(decision.actions.map(line)).toEqual(["DeleteMachine m1 uid-m1"]);
    expect(conditionOf(decision)).toMatchObject({ reason: "MachinesProtected" });
    expect(conditionOf(decide({ set: beingDeleted(), owned: [{}] }))).toBeUndefined();
  });

  it("of the deployment keeps all machines of a terminating set", () => {
    const heldBy = [protectedOwnerHold("pool")];
    const decision = decide({ set: beingDeleted(), owned: [{}, {}], heldBy });
    expect(decision.actions).toEqual([]);
    expect(conditionOf(decision)).toMatchObject({ reason: "ObjectProtected" });
    expect(decision.because).toMatchObject([{ reason: "DeletionProtected", message: conditionOf(decision)?.message }]);
    expect(decide({ set: beingDeleted(), heldBy }).actions.map(line)).toEqual(["RemoveFinalizer"]);
  });

  it("of the deployment does not keep machines in a scale-down", () => {
    const heldBy = [protectedOwnerHold("pool")];
    expect(actionsOf({ set: { spec: { replicas: 0 } }, owned: [{}], heldBy })).toEqual(["DeleteMachine m0 uid-m0"]);
  });
});
