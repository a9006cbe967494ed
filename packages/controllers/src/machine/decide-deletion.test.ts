import { type Machine, type MachineErrorCode, machineErrorCodes } from "@millwright/core";
import { newControllerRef } from "@millwright/kube";
import { describe, expect, it, test } from "vitest";
import type { Node, Pod } from "../cluster/node-objects.ts";
import { aMachine, aMachineSet, beingDeleted, type Change, inPhase, labelled } from "../testing/builders.ts";
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
  withVm,
} from "../testing/snapshots.ts";
import { decideDeletion } from "./decide-deletion.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** A machine whose deletion began just now, with a VM and a node that has joined. */
const going = (...changes: readonly Change<Machine>[]) =>
  aMachine(withVm, inPhase("Running"), beingDeleted("2026-01-01T00:10:00Z"), ...changes);

/** A machine whose deletion flow stands at that description, as MCM or we wrote it. */
const at = (description: string, ...changes: readonly Change<Machine>[]) =>
  going(inPhase("Terminating"), lastly("Delete", "Processing", description), ...changes);

/** What the node says of its machine once the drain has begun. */
const saysTerminating = {
  type: "Terminating",
  status: "True",
  reason: "ScaleDown",
  message: "Machine machine is being deleted",
  lastHeartbeatTime: "2026-01-01T00:10:00Z",
  lastTransitionTime: "2026-01-01T00:10:00Z",
};

/** The node when its drain has begun. */
const cordoned = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({
    ...change,
    spec: { unschedulable: true, ...change?.spec },
    status: { conditions: [{ type: "Ready", status: "True" }, saysTerminating], ...change?.status },
  });

const aPod = (
  name: string,
  change: Partial<Omit<Pod, "metadata">> & { metadata?: Partial<Pod["metadata"]> } = {},
): Pod => ({
  spec: { nodeName: "node" },
  ...change,
  metadata: { name, namespace: "default", uid: `uid-${name}`, ...change.metadata },
});

/** How the words of a drain begin. */
const begun = "Drain not completed yet (started at 2026-01-01T00:10:00Z):";

const marker = {
  status: "Set machine status to termination. Now, getting VM Status",
  drain: "Initiate node drain",
  attachments: "Delete Volume Attachments",
  vm: "Initiate VM deletion",
  node: "Initiate node object deletion",
  finalizer: "Initiate machine object finalizer removal",
} as const;

const decide = (change: Partial<MachineSnapshot>, now = testNow) => decideDeletion(aSnapshot(change), now);
const textOf = (change: Partial<MachineSnapshot>, now = testNow) => {
  const { state, type, description } = decide(change, now).status?.lastOperation ?? {};
  return `${type} ${state}: ${description}`;
};

describe("before the flow", () => {
  it("does nothing to a machine without our finalizer", () => {
    expect(decide({ machine: going({ metadata: { finalizers: ["other"] } }) })).toEqual({ actions: [], because: [] });
    expect(decide({ machine: going({ metadata: { finalizers: null } }) })).toEqual({ actions: [], because: [] });
  });

  it("waits for a VM that is just being made, whatever stage is written", () => {
    for (const machine of [going(), at(marker.finalizer)]) {
      expect(decide({ machine, operation: running("create") })).toEqual({ actions: [], because: [] });
    }
  });

  it("records a VM that was made meanwhile before it takes anything apart, even when the class is gone", () => {
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
      actions: [
        { kind: "PatchNodeStatus", name: "node", patch: { conditions: [saysTerminating] }, mayFail: true },
        { kind: "PatchNode", name: "node", patch: { spec: { unschedulable: true } } },
      ],
      status: {
        currentStatus: { phase: "Terminating", timeoutActive: false, lastUpdateTime: "2026-01-01T00:10:00Z" },
        lastOperation: {
          description: "Initiate node drain",
          state: "Processing",
          type: "Delete",
          lastUpdateTime: "2026-01-01T00:10:00Z",
        },
      },
      because: [],
      wakeAfterMs: 5_000,
    });
  });

  it("evicts what is on the node, and says whom it waits for", () => {
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

  it("asks the driver to delete the VM once the node is empty", () => {
    const decision = decide({ machine: at(marker.drain), node: cordoned() });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toBe("Drain successful. Initiate VM deletion");
    expect(decision.because).toEqual([]);
  });

  it("leaves the words of the stage alone while the call runs", () => {
    const machine = at("Drain successful. Initiate VM deletion");
    const decision = decide({ machine, node: cordoned(), operation: running("delete") });
    expect(decision).toEqual({ actions: [], status: machine.status, because: [] });
  });

  it("repeats in its last words that the drain came to its end", () => {
    const machine = at("Drain successful. Initiate VM deletion");
    const { because } = decide({ machine, node: cordoned(), operation: succeeded("delete") });
    expect(because).toMatchObject([
      { message: expect.stringMatching(/^Drain successful\. VM deletion was successful\. .*; the machine is gone$/) },
    ]);
  });

  it("deletes the node when the VM is gone, its finalizer first", () => {
    const node = cordoned({ metadata: { finalizers: ["a", "node.machine.sapcloud.io/machine-controller"] } });
    const decision = decide({ machine: at(marker.vm), node, operation: succeeded("delete") });
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
        message: 'VM deletion was successful. Deletion of Node Object "node" is successful; the machine is gone',
      },
    ]);
  });

  it("removes the finalizer last, and writes no status that nobody could read", () => {
    const decision = decide({ machine: at(marker.node) });
    expect(decision).toEqual({
      actions: [{ kind: "PatchMachine", patch: { metadata: { finalizers: [] } } }],
      because: [],
    });
  });

  it("goes through everything in one pass when nothing is there to wait for", () => {
    const decision = decide({ machine: at(marker.vm), operation: succeeded("delete") });
    expect(kindsOf(decision)).toEqual(["PatchMachine"]);
  });

  it("ends a preservation with its first word", () => {
    const machine = going({ status: { currentStatus: { preserveExpiryTime: "2027-01-01T00:00:00Z" } } });
    expect(decide({ machine, node: itsNode() }).status?.currentStatus).not.toHaveProperty("preserveExpiryTime");
  });
});

describe("markers", () => {
  const stages = [
    [marker.status, ["PatchNodeStatus", "PatchNode"]],
    [marker.drain, ["PatchNodeStatus", "PatchNode"]],
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

  it("goes by the marker at the end, not by one that an error message quotes", () => {
    const quoting = `VM deletion failed due to - ${marker.finalizer}. Aborting operation. ${marker.vm}`;
    expect(kindsOf(decide({ machine: at(quoting), node: itsNode() }))).toEqual(["StartOperation"]);
  });

  test.each([
    ["no last operation", going(inPhase("Terminating"))],
    ["a text of its own", at("random description")],
    ["a marker outside of the deletion", going(inPhase("Terminating"), lastly("Create", "Failed", marker.finalizer))],
    ["a marker in another phase", going(lastly("Delete", "Processing", marker.finalizer))],
  ])("starts with the first stage at %s", (_, machine) => {
    expect(kindsOf(decide({ machine, node: itsNode() }))).toEqual(["PatchNodeStatus", "PatchNode"]);
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
      "Delete Processing: Node node does not exist any more, skipping node drain. Initiate VM deletion",
      "Delete Failed: VM deletion failed due to - machine codes error: code = [Internal] message = [no luck]. Aborting operation. Initiate VM deletion",
      "Delete Processing: VM deletion was successful. Initiate node object deletion",
      "Delete Processing: Set machine status to termination. Now, getting VM Status",
    ]);
  });
});

describe("finding the node", () => {
  const unlabelled = aMachine(beingDeleted("2026-01-01T00:10:00Z"));

  it("needs no driver call when the label is there, or the node was found another way", () => {
    expect(kindsOf(decide({ machine: going({ spec: { providerID: null } }) }))).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ machine: unlabelled, node: itsNode() }))).toEqual(["PatchNodeStatus", "PatchNode"]);
  });

  it("asks the driver for a machine without label", () => {
    const decision = decide({ machine: unlabelled });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "find" }]);
    expect(decision.status?.currentStatus?.phase).toBe("Terminating");
  });

  it("stores what the driver found and drains in the next pass, when the node can be seen", () => {
    const snapshot = aSnapshot({
      machine: unlabelled,
      operation: succeeded("find", { providerId: "vm-1", nodeName: "node" }),
    });
    const decision = decideDeletion(snapshot, testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    const machine = machineAfter(snapshot, decision);
    expect(machine).toMatchObject({ metadata: { labels: { node: "node" } }, spec: { providerID: "vm-1" } });
    expect(kindsOf(decide({ machine, node: itsNode() }))).toEqual(["PatchNodeStatus", "PatchNode"]);
  });

  test.each([
    ["a VM without a node name", succeeded("find", { providerId: "vm-1" }), "Skipping drain as nodeName"],
    ["no VM", failed("find", "NotFound"), "Skipping drain as nodeName"],
    ["a VM that was never initialized", failed("find", "Uninitialized"), "Skipping drain as nodeName"],
    ["that it cannot tell", failed("find", "Unimplemented"), "Skipping drain as nodeName"],
  ])("goes on without a node when the driver answers %s", (_, operation, text) => {
    const decision = decide({ machine: unlabelled, operation });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toContain(text);
  });

  const blocking = (Object.keys(machineErrorCodes) as MachineErrorCode[]).filter(
    (code) => !["NotFound", "Uninitialized", "Unimplemented"].includes(code),
  );
  test.each(blocking)("stays, says why and asks again later when the driver fails with %s", (code) => {
    const operation = failed("find", code);
    const decision = decide({ machine: unlabelled, operation });
    const delay = { Unknown: 5, DeadlineExceeded: 5, Aborted: 5, Unavailable: 5, ResourceExhausted: 600 }[
      code as string
    ];
    expect(decision).toMatchObject({
      actions: [{ kind: "AcknowledgeOperation" }],
      wakeAfterMs: (delay ?? 180) * 1000,
      status: { lastOperation: { state: "Failed", type: "Delete" } },
      because: [{ type: "Warning", reason: "DeletionBlocked" }],
    });
    expect(decision.status?.lastOperation?.description).toMatch(new RegExp(`\\[${code}\\].*${marker.status}$`));
    const acknowledged = { ...operation, isAcknowledged: true };
    const machine = machineAfter(aSnapshot({ machine: unlabelled }), decision);
    expect(decide({ machine, operation: acknowledged }, later(1_000))).toMatchObject({ actions: [], because: [] });
    expect(kindsOf(decide({ machine, operation: acknowledged }, later(600_000)))).toEqual(["StartOperation"]);
  });

  it("has no node to find where there is no target cluster", () => {
    const decision = decide({ machine: unlabelled, hasTarget: false });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    expect(decision.status?.lastOperation?.description).toBe(
      "Running without target cluster, skipping node drain and volume attachment deletion. Initiate VM deletion",
    );
  });

  it("drains although the class cannot be used", () => {
    const classView = unusable("InvalidMachineClass", "bad class");
    expect(kindsOf(decide({ machine: going(), node: itsNode(), classView }))).toEqual(["PatchNodeStatus", "PatchNode"]);
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

  it("evicts pods with and without a controller, and nothing that would come back or has ended", () => {
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
    // It is told of when it is late.
    expect(decision.wakeAfterMs).toBe(20_001);
    expect(
      decide({ machine: at(marker.drain), node: cordoned(), pods: [terminating] }, later(20_001)).wakeAfterMs,
    ).toBe(2 * 3_600_000 - 20_001);
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
      const machine = at(marker.drain, labelled({ "force-deletion": value }));
      const decision = decide({ machine, node: cordoned(), pods, attachments });
      expect(decision.actions).toEqual(forcedActions);
      expect(decision.status?.lastOperation?.description).toBe("Force Drain successful. Initiate VM deletion");
    },
  );

  test.each(["False", "yes", "", "0"])("goes on gracefully with force-deletion=%s", (value) => {
    const machine = at(marker.drain, labelled({ "force-deletion": value }));
    expect(kindsOf(decide({ machine, node: cordoned(), pods, attachments }))).toEqual(["EvictPod"]);
  });

  it("is forced once the drain timeout since the deletion timestamp has passed, and not before", () => {
    const snapshot = { machine: at(marker.drain), node: cordoned(), pods, attachments };
    expect(kindsOf(decide(snapshot, later(2 * 3_600_000 - 1)))).toEqual(["EvictPod"]);
    expect(decide(snapshot, later(2 * 3_600_000 + 1)).actions).toEqual(forcedActions);
  });

  it("goes by the drain timeout of the machine", () => {
    const machine = at(marker.drain, { spec: { drainTimeout: "90s" } });
    expect(kindsOf(decide({ machine, node: cordoned(), pods: [bare] }, later(90_001)))).toEqual([
      "DeletePod",
      "StartOperation",
    ]);
  });

  it("wakes for the deadline when that is nearer than the next eviction", () => {
    const machine = at(marker.drain, { spec: { drainTimeout: "3s" } });
    expect(decide({ machine, node: cordoned(), pods: [bare] }).wakeAfterMs).toBe(3_000);
  });

  it("deletes the attachments of a forced drain also when its pods are gone already", () => {
    const machine = at(marker.drain, labelled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine, node: itsNode(), attachments }))).toEqual([
      "PatchNodeStatus",
      "PatchNode",
      "DeleteVolumeAttachment",
      "DeleteVolumeAttachment",
      "StartOperation",
    ]);
  });

  it("leaves attachments alone when the node is gone", () => {
    expect(kindsOf(decide({ machine: at(marker.attachments), attachments }))).toEqual(["StartOperation"]);
  });
});

describe("what the node says of its machine", () => {
  const conditionAt = (change: Partial<MachineSnapshot>) =>
    decide({ node: itsNode(), ...change }).actions.find(({ kind }) => kind === "PatchNodeStatus");
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

  it("is said once, whatever else the node says later", () => {
    const node = itsNode({ status: { conditions: [{ ...saysTerminating, reason: "Unhealthy" }] } });
    expect(conditionAt({ machine: at(marker.drain), node })).toBeUndefined();
  });
});

describe("the words of a drain", () => {
  const waiting = (name: string) => aPod(name, { metadata: { deletionTimestamp: "2026-01-01T00:10:30Z" } });
  const saidOf = (...pods: readonly Pod[]) =>
    decide({ machine: at(marker.drain), node: cordoned(), pods }).status?.lastOperation?.description ?? "";
  const after = (text: string, ms: number, ...pods: readonly Pod[]) => {
    const operation = { type: "Delete", state: "Processing", description: text, lastUpdateTime: testNow.toISOString() };
    const machine = at(marker.drain, { status: { lastOperation: operation } });
    const decision = decide({ machine, node: cordoned(), pods }, later(ms));
    const said = decision.status?.lastOperation?.description;
    return { said: said === text ? "the same" : said, because: decision.because, wakeAfterMs: decision.wakeAfterMs };
  };

  it("change at once when a cause comes or goes, with an event for one that needs a person", () => {
    const before = saidOf(waiting("a"), waiting("b"));
    const held = aPod("b", { metadata: { deletionTimestamp: "2026-01-01T00:09:00Z", finalizers: ["x/y"] } });
    const { said, because } = after(before, 1_000, waiting("a"), held);
    expect(said).toContain("Pod default/b: deletionTimestamp set, but still not removed from the Node: finalizers x/y");
    expect(because).toEqual([
      {
        type: "Warning",
        reason: "DrainBlocked",
        message:
          "The drain of node node is held up: Pod default/b: deletionTimestamp set, but still not removed from the Node: finalizers x/y",
      },
    ]);
    expect(after(said ?? "", 2_000, waiting("a"), held)).toMatchObject({ said: "the same", because: [] });
    expect(after(said ?? "", 2_000, waiting("a")).said).not.toContain("finalizers");
  });

  it("are written every ten seconds when there is progress alone", () => {
    const before = saidOf(waiting("a"), waiting("b"));
    expect(after(before, 4_000, waiting("a"))).toEqual({ said: "the same", because: [], wakeAfterMs: 6_000 });
    expect(after(before, 10_000, waiting("a")).said).toContain("* Pod default/a: ");
    // Without progress nobody needs to be woken for it.
    expect(after(before, 4_000, waiting("a"), waiting("b")).wakeAfterMs).toBeGreaterThan(6_000);
  });
});

describe("deleting the VM", () => {
  const machine = at(marker.vm);

  it("stores what the driver wants to remember, and clears what it no longer says", () => {
    const left = [{ metadata: { name: "va", uid: "uid-va" } }];
    const remembering = at(marker.vm, { status: { lastKnownState: "op-1" } });
    const stateAfter = (operation: MachineSnapshot["operation"]): string | undefined =>
      decide({ machine: remembering, node: itsNode(), attachments: left, operation }).status?.lastKnownState;
    expect(stateAfter(failed("delete", "Unavailable", { lastKnownState: "op-2" }))).toBe("op-2");
    expect(stateAfter(succeeded("delete", { lastKnownState: "op-3" }))).toBe("op-3");
    expect(stateAfter(succeeded("delete"))).toBeUndefined();
    expect(stateAfter(running("delete"))).toBe("op-1");
  });

  it("takes the driver's word that there is none", () => {
    const decision = decide({ machine, node: itsNode(), operation: failed("delete", "NotFound") });
    expect(kindsOf(decision)).toEqual(["DeleteNode", "PatchMachine"]);
    expect(decision.because[0]?.message).toMatch(/^VM not found\. Continuing deletion flow\. /);
  });

  const others = (Object.keys(machineErrorCodes) as MachineErrorCode[]).filter((code) => code !== "NotFound");
  test.each(others)("stays when the driver fails with %s, and tries again for ever", (code) => {
    const isSoon = ["Unknown", "DeadlineExceeded", "Aborted", "Unavailable"].includes(code);
    const operation = failed("delete", code);
    const decision = decide({ machine, node: itsNode(), operation });
    const error = `machine codes error: code = [${code}] message = [no luck]`;
    expect(decision.status?.lastOperation).toMatchObject({
      state: "Failed",
      description: isSoon
        ? `VM deletion failed due to - ${error}. However, will re-try in the next resync. Initiate VM deletion`
        : `VM deletion failed due to - ${error}. Aborting operation. Initiate VM deletion`,
    });
    expect(decision.actions).toEqual([{ kind: "AcknowledgeOperation" }]);
    expect(decision.wakeAfterMs).toBe(isSoon ? 5_000 : 600_000);

    const acknowledged = { ...operation, isAcknowledged: true };
    const waiting = machineAfter(aSnapshot({ machine }), decision);
    const quiet = decide({ machine: waiting, node: itsNode(), operation: acknowledged }, later(1));
    expect(quiet).toMatchObject({ actions: [], status: waiting.status, because: [] });
    const retry = decide({ machine: waiting, node: itsNode(), operation: acknowledged }, later(600_000));
    expect(retry).toMatchObject({ actions: [{ kind: "StartOperation" }], status: waiting.status, because: [] });
  });

  it("does not mistake the end of another call for its own", () => {
    expect(
      kindsOf(decide({ machine, operation: succeeded("find", { providerId: "vm-1", nodeName: "node" }) })),
    ).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ machine, operation: failed("find", "NotFound") }))).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ machine, operation: failed("create", "NotFound") }))).toEqual(["StartOperation"]);
  });

  it("keeps a machine whose class cannot be used as long as it has a VM", () => {
    for (const isMissing of [true, false]) {
      const decision = decide({ machine, classView: unusable("X", "no class", isMissing) });
      expect(decision.actions).toEqual([]);
      expect(decision.status?.lastOperation).toMatchObject({
        state: "Failed",
        description: "VM vm-1 cannot be deleted: no class. Initiate VM deletion",
      });
    }
  });

  const idless = (...changes: readonly Change<Machine>[]) => aMachine(beingDeleted("2026-01-01T00:10:00Z"), ...changes);

  it("lets a machine go that never had a class, and so never a VM", () => {
    expect(kindsOf(decide({ machine: idless(), classView: unusable("X", "no class", true) }))).toEqual([
      "PatchMachine",
    ]);
  });

  it("keeps a machine that may have a VM when its class cannot be used, unless deletion is forced", () => {
    const classView = unusable("SecretNotFound", "no secret");
    expect(textOf({ machine: idless(), classView })).toBe(
      'Delete Failed: A VM that may exist cannot be deleted: no secret; where there is none, set the label force-deletion to "True". Initiate VM deletion',
    );
    const forced = idless(labelled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine: forced, classView }))).toEqual(["PatchMachine"]);
  });
});

describe("a machine without a VM whose class the driver refuses", () => {
  const machine = (...changes: readonly Change<Machine>[]) =>
    aMachine(beingDeleted("2026-01-01T00:10:00Z"), ...changes);
  const forced = labelled({ "force-deletion": "True" });

  it("is kept, since nobody can look, and says what to do", () => {
    const operation = failed("find", "InvalidArgument");
    expect(textOf({ machine: machine(), operation })).toContain(
      'Mend the class; or, where there is none, set the label force-deletion to "True"',
    );
  });

  it("goes when deletion is forced, which says that there is no VM", () => {
    expect(kindsOf(decide({ machine: machine(forced), operation: failed("find", "InvalidArgument") }))).toEqual([
      "StartOperation",
    ]);
    expect(
      kindsOf(
        decide({
          machine: at(marker.vm, forced, { spec: { providerID: null } }),
          operation: failed("delete", "InvalidArgument"),
        }),
      ),
    ).toEqual(["PatchMachine"]);
  });

  it("stays when its VM is known, forced or not", () => {
    const operation = failed("delete", "InvalidArgument");
    expect(kindsOf(decide({ machine: at(marker.vm, forced), operation }))).not.toContain("PatchMachine");
  });
});

describe("deleting the node", () => {
  it("is done when the API server has accepted it, so that the machine goes with the same pass", () => {
    const node = itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:10:00Z" } });
    expect(kindsOf(decide({ machine: at(marker.node), node: itsNode() }))).toEqual(["DeleteNode", "PatchMachine"]);
    expect(kindsOf(decide({ machine: at(marker.node), node }))).toEqual(["PatchMachine"]);
  });

  it("takes its finalizer off a node that somebody else deleted", () => {
    const node = itsNode({
      metadata: {
        finalizers: ["node.machine.sapcloud.io/machine-controller"],
        deletionTimestamp: "2026-01-01T00:09:00Z",
      },
    });
    expect(kindsOf(decide({ machine: at(marker.node), node }))).toEqual(["PatchNode", "PatchMachine"]);
  });

  describe("of a VM that was deleted under its pods and volumes", () => {
    const gone = "VM deletion was successful. Initiate node object deletion";
    const attachments = [{ metadata: { name: "va", uid: "uid-va" } }];
    const since = (lastUpdateTime: string): Change<Machine> => ({ status: { lastOperation: { lastUpdateTime } } });
    const justNow = since("2026-01-01T00:10:00Z");
    const tainted = itsNode({
      spec: { taints: [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }] },
    });

    it("tells Kubernetes first, which frees them, and leaves other taints alone", () => {
      const node = itsNode({ spec: { taints: [{ key: "a", effect: "NoSchedule" }] } });
      const decision = decide({ machine: at(gone, justNow), node, attachments });
      expect(decision.actions).toEqual([
        {
          kind: "PatchNode",
          name: "node",
          mayFail: true,
          patch: {
            metadata: { resourceVersion: "7" },
            spec: {
              taints: [
                { key: "a", effect: "NoSchedule" },
                {
                  key: "node.kubernetes.io/out-of-service",
                  value: "nodeshutdown",
                  effect: "NoExecute",
                  timeAdded: "2026-01-01T00:10:00Z",
                },
              ],
            },
          },
        },
      ]);
    });

    test.each([
      ["the driver says so", { machine: at(marker.vm), operation: succeeded("delete") }],
      ["the driver finds none", { machine: at(marker.vm), operation: failed("delete", "NotFound") }],
      ["the machine says so", { machine: at(gone, justNow) }],
      [
        "the machine says that there was none",
        { machine: at(`VM not found. Continuing deletion flow. ${marker.node}`, justNow) },
      ],
    ])("when %s", (_, change) => {
      expect(kindsOf(decide({ ...change, node: itsNode(), attachments }))).toEqual(["PatchNode"]);
      expect(kindsOf(decide({ ...change, node: itsNode(), pods: [aPod("left")] }))).toEqual(["PatchNode"]);
    });

    it("never while a VM may be there, whose pods would run on", () => {
      const machine = at("Something else. Initiate node object deletion", justNow);
      expect(kindsOf(decide({ machine, node: itsNode(), attachments }))).toEqual(["DeleteNode", "PatchMachine"]);
      // Let go of by force, and no driver was asked.
      const forced = aMachine(beingDeleted("2026-01-01T00:10:00Z"), labelled({ "force-deletion": "True" }));
      const classView = unusable("SecretNotFound", "no secret");
      expect(kindsOf(decide({ machine: forced, classView, node: cordoned(), attachments }))).toEqual([
        "DeleteVolumeAttachment",
        "DeleteNode",
        "PatchMachine",
      ]);
      const operation = failed("delete", "Internal");
      expect(kindsOf(decide({ machine: at(gone, justNow), operation, node: itsNode(), attachments }))).toEqual([
        "DeleteNode",
        "PatchMachine",
      ]);
    });

    it("waits a minute for it, and goes on as soon as nothing is left", () => {
      const machine = at(gone, since("2026-01-01T00:09:30Z"));
      const waiting = decide({ machine, node: tainted, attachments });
      expect([waiting.actions, waiting.wakeAfterMs]).toEqual([[], 30_000]);
      expect(kindsOf(decide({ machine, node: tainted, attachments }, later(30_000)))).toEqual([
        "DeleteNode",
        "PatchMachine",
      ]);
      expect(kindsOf(decide({ machine, node: tainted }))).toEqual(["DeleteNode", "PatchMachine"]);
    });

    it("bears a machine and a node that say little", () => {
      const bare: Node = { metadata: { name: "node" } };
      const decision = decide({ machine: at(marker.vm), operation: succeeded("delete"), node: bare, attachments });
      expect(decision.actions).toMatchObject([{ kind: "PatchNode", patch: { metadata: {}, spec: { taints: [{}] } } }]);
      const silent = aMachine(withVm, inPhase("Terminating"), beingDeleted("2026-01-01T00:10:00Z"), {
        status: { lastOperation: { type: "Delete", state: "Processing", description: gone } },
      });
      // Without a time nobody knows how long it has waited.
      expect(kindsOf(decide({ machine: silent, node: tainted, attachments }))).toEqual(["DeleteNode", "PatchMachine"]);
    });

    it("does not wait for pods that stay with their node", () => {
      const mirror = aPod("mirror", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } });
      expect(kindsOf(decide({ machine: at(gone, justNow), node: itsNode(), pods: [mirror] }))).toEqual([
        "DeleteNode",
        "PatchMachine",
      ]);
    });
  });

  it("bears a node without UID", () => {
    const node: Node = { metadata: { name: "node" } };
    expect(decide({ machine: at(marker.node), node }).actions).toContainEqual({
      kind: "DeleteNode",
      name: "node",
      uid: "",
    });
  });
});
