import type { MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { describe, expect, it, test } from "vitest";
import { aMachine, annotated, beingDeleted, inPhase, labeled } from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  lastly,
  later,
  machineAfter,
  running,
  succeeded,
  testNow,
  unusable,
  type SnapshotChange,
} from "../../testing/snapshots.ts";
import { markedStage } from "../../model/phase.ts";
import { aDrainView } from "../../testing/drain-views.ts";
import { decideDeletion } from "./decide-deletion.ts";
import { intent } from "../../testing/creations.ts";
import { aPod, at, begun, cordoned, decide, going, marker, textOf } from "../../testing/deletions.ts";

describe("before the flow", () => {
  it("names the finalizers of others that keep a machine without ours, once, and does nothing else", () => {
    const finalizers = ["z/f", "a/e", "a/d", "a/c", "a/b", "a/a"];
    const change = { metadata: { finalizers } };
    const { status, ...rest } = decide({ machine: at(marker.finalizer, change) });
    expect(rest).toEqual({ actions: [], because: [] });
    expect(status?.lastOperation).toMatchObject({
      type: "Delete",
      description: expect.stringMatching(/^Only finalizers of others keep the object: a\/a, .*a\/e and 1 more/),
    });
    const reported = going(change, { status: status ?? null });
    expect(decide({ machine: reported }).status).toBe(reported.status);
    expect(markedStage({ machine: reported })).toBe("RemoveFinalizer");
    const released = decide({ machine: going({ metadata: { finalizers: ["other"] } }) });
    expect(released.status?.lastOperation?.description).toBe("Only finalizers of others keep the object: other");
    expect(decide({ machine: going({ metadata: { finalizers: null } }) })).toEqual({ actions: [], because: [] });
  });

  it("waits for a VM that is being created, whatever stage is stored", () => {
    for (const machine of [going(), at(marker.finalizer)]) {
      expect(decide({ machine, operation: running("create") })).toEqual({ actions: [], because: [] });
    }
  });

  it("records a VM that was created meanwhile before it deletes anything, even without a class", () => {
    const operation = succeeded("create", { providerId: "vm-1", nodeName: "node" });
    const snapshot = aSnapshot({
      machine: aMachine(beingDeleted()),
      operation,
      classView: unusable("MachineClassNotFound", "no class", true),
    });
    const decision = decideDeletion(snapshot, testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    expect(machineAfter(snapshot, decision)).toMatchObject({
      metadata: { labels: { node: "node" } },
      spec: { providerID: "vm-1" },
    });
  });
});

describe("the whole flow, stage by stage", () => {
  it("cordons first and looks at the pods of a cordoned node only", () => {
    const decision = decide({ machine: going(), node: itsNode() });
    expect(decision).toEqual({
      actions: [{ kind: "PatchNode", name: "node", patch: { spec: { unschedulable: true } } }],
      status: {
        currentStatus: { phase: "Terminating", timeoutActive: false, lastUpdateTime: "2026-01-01T00:10:00Z" },
        lastOperation: {
          description: "Initiate node drain",
          state: "Processing",
          type: "Delete",
          lastUpdateTime: "2026-01-01T00:10:00Z",
          details: { stage: "Drain", time: "2026-01-01T00:10:00Z" },
        },
      },
      isStatusBrief: true,
      because: [],
      requeueAfterMs: 5_000,
    });
  });

  it("writes the first status at once where it lasts: with pods to evict, or without the pods", () => {
    const drains: readonly SnapshotChange[] = [
      { pods: [aPod("a")] },
      { drain: aDrainView({ node: cordoned(), knownPods: "disconnected" }) },
    ];
    for (const change of drains)
      expect(decide({ machine: going(), node: cordoned(), ...change }).isStatusBrief).toBeUndefined();
    const unconfirmed = { node: cordoned(), drain: aDrainView({ node: cordoned(), knownPods: "unconfirmed" }) };
    expect(decide({ machine: going(), ...unconfirmed }).isStatusBrief).toBe(true);
    expect(decide({ machine: at(marker.drain), ...unconfirmed }).isStatusBrief).toBeUndefined();
    // A pace counts what has begun, also after a restart.
    const held = going(lastly("Delete", "Processing", "Deletion held for approval: too many machines"));
    expect(decide({ machine: held, ...unconfirmed }).isStatusBrief).toBeUndefined();
  });

  it("evicts the pods on the node, and reports which it waits for", () => {
    const pods = [aPod("b"), aPod("a")];
    const decision = decide({ machine: at(marker.drain), node: cordoned(), pods });
    expect(decision.actions).toEqual([
      { kind: "EvictPod", namespace: "default", name: "a", uid: "uid-a" },
      { kind: "EvictPod", namespace: "default", name: "b", uid: "uid-b" },
    ]);
    expect(decision.status?.lastOperation?.description).toBe(
      `${begun}\n* Pods default/a, default/b: deletionTimestamp set, but still not removed from the Node. Initiate node drain`,
    );
  });

  it("lets the driver delete the VM once the node is empty", () => {
    const decision = decide({ machine: at(marker.drain), node: cordoned() });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toBe("Drain successful. Initiate VM deletion");
    expect(decision.because).toEqual([]);
  });

  it("writes no status of a running machine whose empty node and VM are deleted within a second", () => {
    const machine = going(inPhase("Running"));
    const started = decide({ machine, node: cordoned() });
    expect(started).toMatchObject({ isStatusBrief: true, requeueAfterMs: 1_000 });
    const operation = running("delete", testNow.getTime());
    const early = decide({ machine, node: cordoned(), operation }, later(400));
    expect(early).toMatchObject({ actions: [], isStatusBrief: true, requeueAfterMs: 600 });
    const late = decide({ machine, node: cordoned(), operation }, later(1_000));
    expect(late.isStatusBrief).toBeUndefined();
    expect(late.status?.lastOperation?.description).toBe("Drain successful. Initiate VM deletion");
  });

  it.each<[string, SnapshotChange]>([
    ["that was not healthy", { machine: going(inPhase("Failed")), node: cordoned() }],
    ["whose drain is stored", { machine: at(marker.drain), node: cordoned() }],
    [
      "whose drain was forced",
      { machine: going(inPhase("Running"), labeled({ "force-deletion": "true" })), node: cordoned() },
    ],
    ["without a node", { machine: going(inPhase("Running")) }],
  ])("writes the status before the VM of a machine is deleted %s", (_, change) => {
    const decision = decide(change);
    expect(kindsOf(decision)).toContain("StartOperation");
    expect(decision.isStatusBrief).toBeUndefined();
  });

  it("waits a second for the VM, however the wall clock was set back", () => {
    const operation = running("delete", testNow.getTime() + 3_600_000);
    const decision = decide({ machine: going(inPhase("Running")), node: cordoned(), operation });
    expect(decision.requeueAfterMs).toBe(1_000);
  });

  it("keeps the description of the stage while the call runs", () => {
    const machine = at("Drain successful. Initiate VM deletion");
    const decision = decide({ machine, node: cordoned(), operation: running("delete") });
    expect(decision).toEqual({ actions: [], status: machine.status, because: [] });
  });

  it("repeats in the final event that the drain was completed", () => {
    const machine = at("Drain successful. Initiate VM deletion");
    const { because } = decide({ machine, node: cordoned(), operation: succeeded("delete") });
    expect(because).toMatchObject([
      {
        message: expect.stringMatching(
          /^Drain successful\. VM deletion was successful\. .*; machine deleted after 0s$/,
        ),
      },
    ]);
  });

  it("deletes the node when the VM is deleted, its finalizer first", () => {
    const node = cordoned({ metadata: { finalizers: ["a", "node.machine.sapcloud.io/machine-controller"] } });
    const machine = at(marker.vm, beingDeleted("2026-01-01T00:00:00Z"));
    const decision = decide({ machine, node, operation: succeeded("delete") });
    expect(decision.actions).toEqual([
      { kind: "PatchNode", name: "node", patch: { metadata: { finalizers: ["a"], resourceVersion: "7" } } },
      { kind: "DeleteNode", name: "node", uid: "uid-node" },
      { kind: "PatchMachine", patch: { metadata: { finalizers: [] } } },
    ]);
    expect(decision.status).toBeUndefined();
    expect(decision.because).toEqual([
      {
        type: "Normal",
        reason: "Deleting",
        message:
          'VM deletion was successful. Deletion of Node Object "node" is successful; machine deleted after 10m0s',
      },
    ]);
  });

  it("removes the finalizer last, without a status that no one could read", () => {
    const decision = decide({ machine: at(marker.node) });
    expect(decision).toEqual({
      actions: [{ kind: "PatchMachine", patch: { metadata: { finalizers: [] } } }],
      because: [],
    });
  });

  it("completes in one reconcile when there is nothing to wait for", () => {
    const decision = decide({ machine: at(marker.vm), operation: succeeded("delete") });
    expect(kindsOf(decision)).toEqual(["PatchMachine"]);
  });

  it.each([
    ["a machine without a node", marker.vm, {}, "VM deletion was successful; machine deleted"],
    [
      "a node that another client deleted when it was empty",
      "Drain successful. Initiate VM deletion",
      {},
      "Drain successful. VM deletion was successful; machine deleted after 10m0s",
    ],
    ["no target cluster", marker.vm, { hasTarget: false }, "VM deletion was successful; machine deleted after 10m0s"],
  ])(
    "reports how long it took where nodes are drained, or there are none at all: %s",
    (_, description, change, message) => {
      const machine = at(description, beingDeleted("2026-01-01T00:00:00Z"));
      const { because } = decide({ machine, operation: succeeded("delete"), ...change });
      expect(because).toMatchObject([{ message }]);
    },
  );

  it("ends a preservation with its first status", () => {
    const machine = going({ status: { currentStatus: { preserveExpiryTime: "2027-01-01T00:00:00Z" } } });
    expect(decide({ machine, node: itsNode() }).status?.currentStatus).not.toHaveProperty("preserveExpiryTime");
  });
});

describe("markers", () => {
  const stages = [
    [marker.status, ["PatchNode"]],
    [marker.drain, ["PatchNode"]],
    [marker.attachments, ["DeleteVolumeAttachment", "StartOperation"]],
    [marker.vm, ["StartOperation"]],
    [marker.node, ["DeleteNode", "PatchMachine"]],
    [marker.finalizer, ["PatchMachine"]],
  ] as const;
  const attachments = [{ metadata: { name: "va", uid: "uid-va" } }];

  test.each(stages)("continues where MCM stopped: %s", (text, kinds) => {
    expect(kindsOf(decide({ machine: at(text), node: itsNode(), attachments }))).toEqual(kinds);
    const worded = `Whatever happened, code = [Internal] message = [x]. ${text}`;
    expect(kindsOf(decide({ machine: at(worded), node: itsNode(), attachments }))).toEqual(kinds);
  });

  it("uses the marker at the end, not one that an error message quotes", () => {
    const quoting = `VM deletion failed due to - ${marker.finalizer}. Aborting operation. ${marker.vm}`;
    expect(kindsOf(decide({ machine: at(quoting), node: itsNode() }))).toEqual(["StartOperation"]);
  });

  test.each([
    ["no last operation", going(inPhase("Terminating"))],
    ["a text of its own", at("random description")],
    ["a marker outside of the deletion", going(inPhase("Terminating"), lastly("Create", "Failed", marker.finalizer))],
    ["a marker in another phase", going(lastly("Delete", "Processing", marker.finalizer))],
  ])("starts with the first stage at %s", (_, machine) => {
    expect(kindsOf(decide({ machine, node: itsNode() }))).toEqual(["PatchNode"]);
  });

  it("ends every description with the marker of its stage, byte for byte", () => {
    // What is left on the node keeps the machine for a while.
    const left = [{ metadata: { name: "va", uid: "uid-va" } }];
    const texts = [
      textOf({ machine: going(), node: itsNode() }),
      textOf({ machine: at(marker.drain) }),
      textOf({ machine: at(marker.vm), node: itsNode(), operation: failed("delete", "Internal") }),
      textOf({ machine: at(marker.vm), node: itsNode(), operation: succeeded("delete"), attachments: left }),
      textOf({ machine: aMachine(beingDeleted()), operation: running("find") }),
    ];
    expect(texts).toEqual([
      "Delete Processing: Initiate node drain",
      "Delete Processing: Node node no longer exists, skipping node drain. Initiate VM deletion",
      "Delete Failed: VM deletion failed due to - machine codes error: code = [Internal] message = [no luck]. Aborting operation. Initiate VM deletion",
      "Delete Processing: VM deletion was successful. Initiate node object deletion",
      "Delete Processing: Set machine status to termination. Now, getting VM Status",
    ]);
  });
});

describe("finding the node", () => {
  const unlabeled = aMachine(beingDeleted("2026-01-01T00:10:00Z"));

  it("needs no driver call when the label is there, or the node was found another way", () => {
    expect(kindsOf(decide({ machine: going({ spec: { providerID: null } }) }))).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ machine: unlabeled, node: itsNode() }))).toEqual(["PatchNode"]);
  });

  it("drains no node that had the name of the VM before it: it belongs to another VM", () => {
    const machine = aMachine(
      beingDeleted("2026-01-01T00:10:00Z"),
      annotated({ "machine.millwright.dev/creation-intent": JSON.stringify({ ...intent, staleNode: "node" }) }),
    );
    const decision = decide({ machine, node: itsNode() });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toContain("node");
  });

  it("looks up the node by the driver for a machine without label", () => {
    const decision = decide({ machine: unlabeled });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "find" }]);
    expect(decision.status?.currentStatus?.phase).toBe("Terminating");
  });

  it("stores what the driver found and drains in the next reconcile, when the node can be seen", () => {
    const snapshot = aSnapshot({
      machine: unlabeled,
      operation: succeeded("find", { providerId: "vm-1", nodeName: "node" }),
    });
    const decision = decideDeletion(snapshot, testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    const machine = machineAfter(snapshot, decision);
    expect(machine).toMatchObject({ metadata: { labels: { node: "node" } }, spec: { providerID: "vm-1" } });
    expect(kindsOf(decide({ machine, node: itsNode() }))).toEqual(["PatchNode"]);
  });

  test.each([
    ["no VM", failed("find", "NotFound"), "Skipping drain as nodeName"],
    ["a VM that was never initialized", failed("find", "Uninitialized"), "Skipping drain as nodeName"],
    ["Unimplemented", failed("find", "Unimplemented"), "Skipping drain as nodeName"],
  ])("continues without a node when the driver returns %s", (_, operation, text) => {
    const decision = decide({ machine: unlabeled, operation });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toContain(text);
  });

  test.each([
    ["nothing that can be read", succeeded("find", { unreadable: "without a providerId" })],
    [
      "failures alone for the time of a drain",
      failed("find", "Internal", { failures: 5, endedAt: later(7_200_001).getTime() }),
    ],
  ])("continues without a node, and reports it, when the driver returns %s", (_, operation) => {
    const decision = decide({ machine: unlabeled, operation }, later(7_200_001));
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.because).toMatchObject([{ type: "Warning", reason: "VMStatusUnknown" }, {}]);
  });

  it("stores the id of a VM without a node name, by which its node is found, and continues without a node otherwise", () => {
    const operation = succeeded("find", { providerId: "vm-1", nodeName: "" });
    const snapshot = aSnapshot({ machine: unlabeled, operation });
    const decision = decideDeletion(snapshot, testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    const machine = machineAfter(snapshot, decision);
    expect([machine.spec.providerID, machine.metadata.labels?.["node"]]).toEqual(["vm-1", undefined]);
    expect(decide({ machine, operation }).actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
  });

  it("is repeated for the time of a drain, and a few times in any case", () => {
    for (const [failures, after] of [
      [4, 7_200_001],
      [5, 3_600_000],
    ] as const) {
      const operation = failed("find", "Internal", { failures, endedAt: later(after).getTime() });
      expect(kindsOf(decide({ machine: unlabeled, operation }, later(after)))).toEqual(["AcknowledgeOperation"]);
    }
  });

  const forced = aMachine(beingDeleted("2026-01-01T00:10:00Z"), labeled({ "force-deletion": "True" }));

  test.each(["Unavailable", "DeadlineExceeded", "ResourceExhausted"] as const)(
    "is repeated for five minutes of failures for a passing reason, such as %s, however old the deletion is",
    (code) => {
      const firstFailedAt = later(7_200_001).getTime();
      for (const machine of [unlabeled, forced]) {
        const goesOn = (afterMs: number): boolean => {
          const endedAt = firstFailedAt + afterMs;
          const operation = failed("find", code, { failures: 50, firstFailedAt, endedAt });
          return kindsOf(decide({ machine, operation }, new Date(endedAt))).includes("StartOperation");
        };
        expect([goesOn(300_000), goesOn(300_001)]).toEqual([false, true]);
      }
    },
  );

  it("is repeated a few times, and not for the time of a drain, where the deletion is forced", () => {
    for (const [failures, kind] of [
      [4, "AcknowledgeOperation"],
      [5, "StartOperation"],
    ] as const)
      expect(kindsOf(decide({ machine: forced, operation: failed("find", "Internal", { failures }) }))).toEqual([kind]);
  });

  it("waits for a class that cannot be used, so that the VM is not deleted without a drain afterwards", () => {
    const decision = decide({ machine: unlabeled, classView: unusable("SecretNotFound", "no secret") });
    expect(decision).toMatchObject({ actions: [], status: { lastOperation: { state: "Failed" } } });
    expect(kindsOf(decide({ machine: machineAfter(aSnapshot({ machine: unlabeled }), decision) }))).toEqual([
      "StartOperation",
    ]);
  });

  const blocking = (Object.keys(machineErrorCodes) as MachineErrorCode[]).filter(
    (code) => !["NotFound", "Uninitialized", "Unimplemented"].includes(code),
  );
  test.each(blocking)("stays, reports why and retries later when the driver fails with %s", (code) => {
    const operation = failed("find", code);
    const decision = decide({ machine: unlabeled, operation });
    const delay = { Unknown: 5, DeadlineExceeded: 5, Aborted: 5, Unavailable: 5, ResourceExhausted: 600 }[
      code as string
    ];
    expect(decision).toMatchObject({
      actions: [{ kind: "AcknowledgeOperation" }],
      requeueAfterMs: (delay ?? 180) * 1000,
      status: { lastOperation: { state: "Failed", type: "Delete" } },
      because: [{ type: "Warning", reason: "DeletionBlocked" }],
    });
    expect(decision.status?.lastOperation?.description).toMatch(new RegExp(`\\[${code}\\].*${marker.status}$`));
    const acknowledged = { ...operation, isAcknowledged: true };
    const machine = machineAfter(aSnapshot({ machine: unlabeled }), decision);
    expect(decide({ machine, operation: acknowledged }, later(1_000))).toMatchObject({ actions: [], because: [] });
    expect(kindsOf(decide({ machine, operation: acknowledged }, later(600_000)))).toEqual(["StartOperation"]);
  });

  it("has no node to find where there is no target cluster", () => {
    const decision = decide({ machine: unlabeled, hasTarget: false });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toBe(
      "Running without target cluster, skipping node drain and volume attachment deletion. Initiate VM deletion",
    );
  });

  it("drains although the class cannot be used", () => {
    const classView = unusable("InvalidMachineClass", "bad class");
    expect(kindsOf(decide({ machine: going(), node: itsNode(), classView }))).toEqual(["PatchNode"]);
  });
});
