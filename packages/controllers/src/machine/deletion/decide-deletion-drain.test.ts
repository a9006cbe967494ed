import type { Machine } from "@millwright/core/machine-api";
import { newControllerRef } from "@millwright/kube";
import { describe, expect, it, test } from "vitest";
import type { Pod } from "../../model/node-objects.ts";
import { aMachineSet, type Change, inPhase, labeled } from "../../testing/builders.ts";
import { aDrainView, aMove, volumePlaces } from "../../testing/drain-views.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  later,
  machineAfter,
  pending,
  running,
  succeeded,
  testNow,
  unusable,
  type SnapshotChange,
} from "../../testing/snapshots.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import {
  aPod,
  at,
  begun,
  cordoned,
  decide,
  going,
  marker,
  terminatingCondition,
  textOf,
} from "../../testing/deletions.ts";

it("does not drain a node of another VM, and names it", () => {
  const change = { machine: at(marker.drain), foreignNode: itsNode() };
  expect(textOf(change)).toContain("Node node belongs to another VM, skipping node drain");
  expect(kindsOf(decide(change))).toEqual(["StartOperation"]);
});

describe("a node that the cache does not have", () => {
  it("is read before the VM is deleted", () => {
    const decision = decide({ machine: at(marker.drain), unreadNode: "node" });
    expect(decision).toMatchObject({ actions: [{ kind: "ReadNode", name: "node" }], requeueAfterMs: 5_000 });
    expect(kindsOf(decide({ machine: at(marker.drain) }))).toEqual(["StartOperation"]);
  });

  it.each<[string, Change<Machine>, number]>([
    ["a user forces the deletion", labeled({ "force-deletion": "true" }), 0],
    ["the drain timeout is over", {}, 2 * 3_600_000 + 1],
  ])("is not waited for once %s: its API server may be unreachable for ever", (_, change, ms) => {
    const machine = at(marker.drain, change);
    expect(kindsOf(decide({ machine, unreadNode: "node" }, later(ms)))).toEqual(["StartOperation"]);
  });
});

describe("draining", () => {
  const daemon = aPod("daemon", {
    metadata: {
      ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }],
    },
  });
  const ofSet = aPod("web", {
    metadata: {
      ownerReferences: [newControllerRef({ group: "apps", version: "v1", kind: "ReplicaSet" } as never, aMachineSet())],
    },
  });
  const mirror = aPod("mirror", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } });
  const finished = aPod("finished", { status: { phase: "Succeeded" } });
  const terminating = aPod("terminating", { metadata: { deletionTimestamp: "2026-01-01T00:09:50Z" } });
  const bare = aPod("bare");

  it("evicts pods with and without a controller, and none that would be recreated or has completed", () => {
    const { actions } = decide({
      machine: at(marker.drain),
      node: cordoned(),
      pods: [daemon, ofSet, mirror, finished, terminating, bare],
    });
    expect(actions.map((action) => ("name" in action ? action.name : ""))).toEqual(["bare", "web"]);
  });

  it("is done when only pods are left that stay with their node", () => {
    const pods = [daemon, mirror, finished];
    expect(kindsOf(decide({ machine: at(marker.drain), node: cordoned(), pods }))).toEqual(["StartOperation"]);
  });

  it("waits for a terminating pod without evicting it again, until the deadline", () => {
    const decision = decide({ machine: at(marker.drain), node: cordoned(), pods: [terminating] });
    expect(decision.actions).toEqual([]);
    // It is reported when it is overdue.
    expect(decision.requeueAfterMs).toBe(20_001);
    const machine = at(marker.drain);
    const overdue = { machine, node: cordoned(), pods: [terminating] };
    // Then the time that counts is recorded every five minutes.
    expect(decide(overdue, later(20_001)).requeueAfterMs).toBe(5 * 60_000 - 20_001);
    expect(decide(overdue, later(5 * 60_000))).toMatchObject({
      actions: [{ kind: "RecordDrain", record: { moves: [], clock: { countedMs: 5 * 60_000 } } }],
      requeueAfterMs: 2 * 3_600_000 - 5 * 60_000,
    });
  });

  it("of a machine that is deleted anyway ends by the notice that the cloud gives meanwhile", () => {
    const taints = [{ key: "aws-node-termination-handler/spot-itn", effect: "NoSchedule" }];
    const node = cordoned({ spec: { taints } });
    const change = { machine: at(marker.drain), node, pods: [terminating] };
    const decision = decide(change, later(10_000));
    const deadline = later(130_000).toISOString().replace(".000Z", "Z");
    const patch = { metadata: { annotations: { "machine.millwright.dev/interruption-deadline": deadline } } };
    expect(decision.actions).toEqual([{ kind: "PatchMachine", patch }]);
    const machine = machineAfter(aSnapshot(change), decision);
    expect(decide({ ...change, machine }, later(129_000)).actions).not.toContainEqual({ kind: "PatchMachine", patch });
    expect(kindsOf(decide({ ...change, machine }, later(130_001)))).toContain("DeletePod");
  });

  it("reports volumes that are still attached when it ends, in an event, the status and the final event", () => {
    const record = { moves: [aMove("db")] };
    const drain = aDrainView({ node: cordoned(), record, attached: volumePlaces({ attachedHere: ["pv-db"] }) });
    const words = "Drain ended, but volumes are still attached to Node node: pv-db";
    const ended = decide({ machine: at(marker.drain), node: cordoned(), drain }, later(10 * 60_000));
    expect(kindsOf(ended)).toEqual(["RecordDrain", "StartOperation"]);
    expect(ended.status?.lastOperation?.description).toBe(`${words}. Initiate VM deletion`);
    expect(ended.because).toEqual([{ type: "Warning", reason: "VolumesAttached", message: words }]);
    const machine = at(`${words}. Initiate VM deletion`);
    const deleted = decide({ machine, operation: succeeded("delete") }, later(10 * 60_000));
    expect(deleted.because.map(({ message }) => message)).toEqual([expect.stringContaining(`${words}. VM deletion`)]);
    expect(deleted.because[0]?.message).toContain("; machine deleted after 10m0s");
  });

  it("names no more than three pods", () => {
    const pods = ["e", "d", "c", "b", "a"].map((name) => aPod(name));
    expect(textOf({ machine: at(marker.drain), node: cordoned(), pods })).toBe(
      `Delete Processing: ${begun}\n* Pods default/a, default/b, default/c and 2 more: deletionTimestamp set, but still not removed from the Node. Initiate node drain`,
    );
  });

  it("bears pods without namespace and UID", () => {
    const pods = [{ metadata: { name: "odd" } }];
    expect(decide({ machine: at(marker.drain), node: cordoned(), pods }).actions).toEqual([
      { kind: "EvictPod", namespace: "", name: "odd", uid: "" },
    ]);
  });

  const attachments = [
    { metadata: { name: "left", uid: "uid-left" } },
    { metadata: { name: "odd" } },
    { metadata: { name: "leaving", uid: "uid-leaving", deletionTimestamp: "2026-01-01T00:09:00Z" } },
  ];
  const forcedActions = [
    { kind: "DeletePod", atOnce: true, namespace: "default", name: "bare", uid: "uid-bare" },
    { kind: "DeletePod", atOnce: true, namespace: "default", name: "terminating", uid: "uid-terminating" },
    { kind: "DeleteVolumeAttachment", name: "left", uid: "uid-left" },
    { kind: "DeleteVolumeAttachment", name: "odd", uid: "" },
    { kind: "StartOperation", operation: "delete" },
  ];
  const pods = [bare, terminating];

  test.each(["True", "true", "TRUE", "t", "T", "1"])(
    "deletes pods and attachments at once with force-deletion=%s",
    (value) => {
      const machine = at(marker.drain, labeled({ "force-deletion": value }));
      const decision = decide({ machine, node: cordoned(), pods, attachments });
      expect(decision.actions).toEqual(forcedActions);
      expect(decision.status?.lastOperation?.description).toBe("Force Drain successful. Initiate VM deletion");
    },
  );

  test.each(["False", "yes", "", "0"])("continues gracefully with force-deletion=%s", (value) => {
    const machine = at(marker.drain, labeled({ "force-deletion": value }));
    expect(kindsOf(decide({ machine, node: cordoned(), pods, attachments }))).toEqual(["EvictPod"]);
  });

  it("is forced once the drain timeout since the deletion timestamp has passed, and not before", () => {
    const snapshot = { machine: at(marker.drain), node: cordoned(), pods, attachments };
    expect(kindsOf(decide(snapshot, later(2 * 3_600_000 - 1)))).toEqual(["RecordDrain", "EvictPod"]);
    expect(decide(snapshot, later(2 * 3_600_000 + 1)).actions).toEqual(forcedActions);
  });

  it("uses the drain timeout of the machine", () => {
    const machine = at(marker.drain, { spec: { drainTimeout: "90s" } });
    expect(kindsOf(decide({ machine, node: cordoned(), pods: [bare] }, later(90_001)))).toEqual([
      "DeletePod",
      "StartOperation",
    ]);
  });

  it("requeues at the deadline when that is nearer than the next eviction", () => {
    const machine = at(marker.drain, { spec: { drainTimeout: "3s" } });
    expect(decide({ machine, node: cordoned(), pods: [bare] }).requeueAfterMs).toBe(3_000);
  });

  it("deletes the attachments of a forced drain also when its pods are deleted already", () => {
    const machine = at(marker.drain, labeled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine, node: itsNode(), attachments }))).toEqual([
      "PatchNodeStatus",
      "PatchNode",
      "DeleteVolumeAttachment",
      "DeleteVolumeAttachment",
      "StartOperation",
    ]);
  });

  it("keeps attachments when the node does not exist", () => {
    expect(kindsOf(decide({ machine: at(marker.attachments), attachments }))).toEqual(["StartOperation"]);
  });
});

describe("the condition Terminating of the node", () => {
  const emptied = itsNode({ spec: { unschedulable: true } });
  const conditionAt = (change: SnapshotChange) =>
    decide({ machine: going(), node: emptied, ...change }).actions.find(({ kind }) => kind === "PatchNodeStatus");
  const reason = (text: string) => ({ patch: { conditions: [{ type: "Terminating", status: "True", reason: text }] } });

  test.each([
    ["ScaleDown", "Running"],
    ["ScaleDown", "Pending"],
    ["Unhealthy", "Failed"],
    ["Unhealthy", "Unknown"],
  ] as const)("is %s for one that was %s", (expected, phase) => {
    expect(conditionAt({ machine: going(inPhase(phase)) })).toMatchObject(reason(expected));
  });

  const checked = (...outcomes: readonly string[]): Change<Machine> => ({
    status: {
      history: outcomes.map((outcome) => ({
        operation: "HealthCheck",
        outcome,
        time: "2026-01-01T00:05:00Z",
        message: "",
      })),
    },
  });
  test.each([
    ["ScaleDown", []],
    ["Unhealthy", ["Successful", "Processing"]],
    ["Unhealthy", ["Failed"]],
    ["ScaleDown", ["Failed", "Successful"]],
  ] as const)("is %s for one whose flow has begun, after checks that ended with %s", (expected, outcomes) => {
    expect(conditionAt({ machine: at(marker.status, checked(...outcomes)) })).toMatchObject(reason(expected));
  });

  it("is set as soon as there are pods to evict, and on an empty node after its cordon", () => {
    expect(conditionAt({ node: itsNode(), pods: [aPod("a")] })).toMatchObject(reason("ScaleDown"));
    expect(conditionAt({ node: itsNode() })).toBeUndefined();
    const unconfirmed = aDrainView({ node: emptied, knownPods: "unconfirmed" });
    expect(conditionAt({ drain: unconfirmed })).toBeUndefined();
  });

  const ours = "node.machine.sapcloud.io/machine-controller";
  const held = (metadata: NonNullable<Parameters<typeof itsNode>[0]>["metadata"] = {}) =>
    itsNode({ metadata: { finalizers: ["theirs", ours], ...metadata }, spec: { unschedulable: true } });

  it("is one request with the finalizer of a node on which nothing is left", () => {
    expect(conditionAt({ node: held() })).toEqual({
      kind: "PatchNodeStatus",
      name: "node",
      patch: { conditions: [terminatingCondition] },
      metadata: { uid: "uid-node", "$deleteFromPrimitiveList/finalizers": [ours] },
      mayFail: true,
    });
  });

  it.each<[string, SnapshotChange]>([
    ["has volumes", { node: held(), attachments: [{ metadata: { name: "va", uid: "uid-va" } }] }],
    ["is drained by force", { machine: going(labeled({ "force-deletion": "true" })), node: held() }],
    ["is being deleted", { node: held({ deletionTimestamp: "2026-01-01T00:10:00Z" }) }],
    ["has pods", { node: held(), pods: [aPod("a")] }],
    ["has none of ours", { node: held({ finalizers: ["theirs"] }) }],
  ])("leaves the finalizers of a node that %s", (_, change) => {
    const action = conditionAt(change);
    expect(action).toMatchObject(reason("ScaleDown"));
    expect(action).not.toHaveProperty("metadata");
  });

  it("is set once, whatever happens to the node later", () => {
    const node = itsNode({ status: { conditions: [{ ...terminatingCondition, reason: "Unhealthy" }] } });
    expect(conditionAt({ machine: at(marker.drain), node })).toBeUndefined();
  });
});

describe("the description of a drain", () => {
  const waiting = (name: string) => aPod(name, { metadata: { deletionTimestamp: "2026-01-01T00:10:30Z" } });
  const descriptionsOf = (...pods: readonly Pod[]) =>
    decide({ machine: at(marker.drain), node: cordoned(), pods }).status?.lastOperation?.description ?? "";
  const after = (text: string, ms: number, ...pods: readonly Pod[]) => {
    const operation = { type: "Delete", state: "Processing", description: text, lastUpdateTime: testNow.toISOString() };
    const machine = at(marker.drain, { status: { lastOperation: operation } });
    const decision = decide({ machine, node: cordoned(), pods }, later(ms));
    const description = decision.status?.lastOperation?.description;
    return {
      description: description === text ? "the same" : description,
      because: decision.because,
      requeueAfterMs: decision.requeueAfterMs,
    };
  };

  it("changes at once with each cause, with an event for one that requires a user", () => {
    const before = descriptionsOf(waiting("a"), waiting("b"));
    const held = aPod("b", { metadata: { deletionTimestamp: "2026-01-01T00:09:00Z", finalizers: ["x/y"] } });
    const { description, because } = after(before, 1_000, waiting("a"), held);
    expect(description).toContain(
      "Pod default/b: deletionTimestamp set, but still not removed from the Node: finalizers x/y",
    );
    expect(because).toEqual([
      {
        type: "Warning",
        reason: "DrainBlocked",
        message:
          "Drain of node node is blocked: Pod default/b: deletionTimestamp set, but still not removed from the Node: finalizers x/y",
      },
    ]);
    expect(after(description ?? "", 2_000, waiting("a"), held)).toMatchObject({ description: "the same", because: [] });
    expect(after(description ?? "", 2_000, waiting("a")).description).not.toContain("finalizers");
  });

  it("are written every ten seconds when there is progress alone", () => {
    const before = descriptionsOf(waiting("a"), waiting("b"));
    expect(after(before, 4_000, waiting("a"))).toEqual({ description: "the same", because: [], requeueAfterMs: 6_000 });
    expect(after(before, 10_000, waiting("a")).description).toContain("* Pod default/a: ");
    // Without progress no requeue is needed.
    expect(after(before, 4_000, waiting("a"), waiting("b")).requeueAfterMs).toBeGreaterThan(6_000);
  });
});

describe("an unreachable node", () => {
  const since = (minutes: number, status = "Unknown") => ({
    conditions: [
      { type: "Ready", status, lastTransitionTime: later(-minutes * 60_000).toISOString() },
      terminatingCondition,
    ],
  });
  const silent = (minutes = 6, status = "Unknown") => cordoned({ status: since(minutes, status) });
  const attachments = [{ metadata: { name: "va", uid: "uid-va" } }];
  const held = { pods: [aPod("db-0")], attachments };
  const forced = labeled({ "force-deletion": "True" });

  it.each([
    ["its kubelet is silent", at(marker.drain), silent()],
    ["its kubelet reports that it cannot run pods", at(marker.drain), silent(6, "False")],
    ["the deletion is forced by a user", at(marker.drain, forced), silent(1)],
    ["the drain timeout has passed", at(marker.drain, { spec: { drainTimeout: "1s" } }), silent(1)],
  ])("loses its VM before its pods and volumes are released, when %s", (_, machine, node) => {
    const decision = decide({ machine, node, ...held }, later(1_001));
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toBe(
      "Node node is unreachable, skipping node drain and deleting the VM first. Initiate VM deletion",
    );
  });

  it("is read before its VM is deleted without a drain: it may have recovered", () => {
    const change = { machine: at(marker.drain), node: silent(), unreadNode: "node", ...held };
    expect(decide(change)).toMatchObject({ actions: [{ kind: "ReadNode", name: "node" }], requeueAfterMs: 5_000 });
    expect(kindsOf(decide({ ...change, machine: at(marker.drain, forced) }))).toEqual(["StartOperation"]);
    const machine = at(marker.drain, { spec: { drainTimeout: "1s" } });
    expect(kindsOf(decide({ ...change, machine }, later(1_001)))).toEqual(["StartOperation"]);
  });

  it("is cordoned and marked, and neither has to succeed", () => {
    const node = itsNode({ status: { conditions: since(6).conditions.slice(0, 1) } });
    expect(decide({ machine: at(marker.drain), node, ...held }).actions).toMatchObject([
      { kind: "PatchNodeStatus", mayFail: true },
      { kind: "PatchNode", patch: { spec: { unschedulable: true } }, mayFail: true },
      { kind: "StartOperation" },
    ]);
  });

  it("is drained like any other until it is silent for five minutes, and its VM is looked for", () => {
    expect(kindsOf(decide({ machine: at(marker.drain), node: silent(4), ...held }))).toEqual([
      "StartOperation",
      "EvictPod",
    ]);
  });

  it("keeps its volume attachments where another controller was about to delete them", () => {
    expect(kindsOf(decide({ machine: at(marker.attachments), node: silent(), ...held }))).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ machine: at(marker.attachments), node: cordoned(), ...held }))).toEqual([
      "DeleteVolumeAttachment",
      "StartOperation",
    ]);
  });

  it("is tainted out-of-service as soon as the driver confirms that the VM is deleted, not before", () => {
    const machine = at(marker.vm);
    for (const operation of [running("delete"), pending("delete")])
      expect(decide({ machine, node: silent(), ...held, operation }).actions).toEqual([]);
    expect(decide({ machine, node: silent(), ...held, operation: succeeded("delete") }).actions).toMatchObject([
      { kind: "PatchNode", patch: { spec: { taints: [{ key: "node.kubernetes.io/out-of-service" }] } } },
    ]);
  });

  it("keeps its pods and volumes while the driver fails, and the status names what they wait for", () => {
    const note =
      "Node node is unreachable: its pods and volumes are not released until the driver confirms that the VM is deleted";
    const operation = failed("delete", "Unavailable");
    const decision = decide({ machine: at(marker.vm), node: silent(), ...held, operation });
    expect(decision.actions).toEqual([{ kind: "AcknowledgeOperation" }]);
    expect(decision.status?.lastOperation?.description).toContain(`re-try in the next resync. ${note}. Initiate VM`);
    expect(textOf({ machine: at(marker.vm), node: silent(), ...held, classView: unusable("X", "no class") })).toBe(
      `Delete Failed: Cannot delete VM vm-1: no class. ${note}. Initiate VM deletion`,
    );
    expect(textOf({ machine: at(marker.vm), node: silent(), operation })).not.toContain("unreachable");
    expect(textOf({ machine: at(marker.vm), node: cordoned(), ...held, operation })).not.toContain("unreachable");
  });

  describe("that recovers while its VM cannot be deleted", () => {
    const skipped = at(`Node node is unreachable, skipping node drain and deleting the VM first. ${marker.vm}`);
    const failure = failed("delete", "Unavailable");
    const held = machineAfter(
      aSnapshot({ machine: skipped }),
      decide({ machine: skipped, node: silent(), pods: [aPod("db-0")], operation: failure }),
    );

    it.each<[string, Machine, MachineSnapshot["operation"], string]>([
      ["waits for the next call", held, { ...failure, isAcknowledged: true }, "VM deletion failed due to"],
      ["has to report a failure", skipped, failure, "VM deletion failed due to"],
      ["is about to call", held, undefined, "Node node recovered"],
    ])("is drained after all, when the deletion %s", (_, machine, operation, beginning) => {
      const pods = [aPod("db-0")];
      const decision = decide({ machine, node: cordoned(), pods, operation });
      expect(kindsOf(decision)).not.toContain("StartOperation");
      const text = decision.status?.lastOperation?.description ?? "";
      expect(text.startsWith(beginning)).toBe(true);
      expect(text).toMatch(/Node node recovered, draining it before its VM is deleted\. Initiate node drain$/);
      expect(decision.because[0]?.message).toContain("recovered, draining it before its VM is deleted; stage Drain");
      const drained = machineAfter(aSnapshot({ machine }), decision);
      expect(kindsOf(decide({ machine: drained, node: cordoned(), pods, operation }))).toContain("EvictPod");
    });

    it("is drained after all when its pods are terminating: their grace period begins when the node is back", () => {
      const pods = [aPod("db-0", { metadata: { deletionTimestamp: "2026-01-01T00:09:00Z" } })];
      const decision = decide({ machine: held, node: cordoned(), pods });
      expect(kindsOf(decision)).not.toContain("StartOperation");
      const drained = machineAfter(aSnapshot({ machine: held }), decision);
      expect(kindsOf(decide({ machine: drained, node: cordoned(), pods }))).toEqual([]);
      expect(kindsOf(decide({ machine: drained, node: cordoned(), pods: [] }))).toEqual(["StartOperation"]);
    });

    it.each<[string, SnapshotChange]>([
      ["while the driver deletes the VM", { operation: running("delete") }],
      ["while the cloud deletes the VM", { operation: pending("delete") }],
      ["once the VM is deleted", { operation: succeeded("delete") }],
      ["without pods that it would evict", { pods: [] }],
      ["when it is unreachable again", { node: silent() }],
      ["when it was drained before", { machine: at(`Drain successful. ${marker.vm}`) }],
    ])("is not drained %s", (_, change) => {
      const decision = decide({ machine: held, node: cordoned(), pods: [aPod("db-0")], ...change });
      expect(decision.status?.lastOperation?.description ?? "").not.toContain("recovered");
    });
  });
});
