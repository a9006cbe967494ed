import { annotationKeys, finalizers, labelKeys, type Machine } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { aMachine, aNode, type Change } from "../testing/builders.ts";
import { aPod } from "../testing/drain-objects.ts";
import { aDrainView } from "../testing/drain-views.ts";
import { aSnapshot, later, type SnapshotChange, testNow } from "../testing/snapshots.ts";
import { decideOrphanNode, type OrphanNodeSnapshot } from "./decide-orphan-node.ts";
import type { OrphanNodeDecision } from "./node-stages.ts";
import { readNodeMark } from "./node-mark.ts";
import type { OrphanVm } from "./nodes-of-vm.ts";

const begun = testNow.getTime();
const HOUR = 3_600_000;

const vmOf = (entry: Partial<OrphanVm["entry"]> = {}): OrphanVm => ({
  className: "small",
  providerId: "vm-lost",
  entry: { machine: "lost", since: begun - HOUR, deleteAfter: begun - HOUR / 2, ...entry },
});
const cordoned: Node = aNode({ spec: { unschedulable: true } });
const unready = [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:00:00Z" }];

/** The Node as that of a machine whose deletion began now. */
const leavingOf = (change: SnapshotChange = {}, machine: Change<Machine> = {}) =>
  aSnapshot({
    machine: aMachine(
      { metadata: { deletionTimestamp: testNow.toISOString(), labels: { [labelKeys.node]: "node" } } },
      machine,
    ),
    node: cordoned,
    ...change,
  });

const decide = (change: Partial<OrphanNodeSnapshot>, now = testNow): OrphanNodeDecision =>
  decideOrphanNode(
    {
      namespace: "default",
      node: cordoned,
      mark: { machineClass: "default/small", cordoned: true },
      vm: vmOf(),
      isAllowed: false,
      isDrained: false,
      doubt: undefined,
      leaving: undefined,
      ...change,
    },
    now,
  );
const draining = (change: SnapshotChange = {}, others: Partial<OrphanNodeSnapshot> = {}, now = testNow) =>
  decide({ vm: vmOf({ draining: begun }), isAllowed: true, leaving: leavingOf(change), ...others }, now);

describe("the Node of a VM without machine", () => {
  it.each([
    [aNode(), true],
    [cordoned, false],
  ])("is cordoned in quarantine, with a mark of why, and whether it was schedulable", (node, cordons) => {
    const { actions } = decide({ node, mark: undefined });
    expect(actions).toEqual([
      { kind: "PatchNode", name: "node", patch: expect.objectContaining({ spec: { unschedulable: true } }) },
    ]);
    const marked = applyMergePatch(
      node,
      actions.flatMap((action) => ("patch" in action ? [action.patch] : []))[0] ?? {},
    ) as Node;
    const text = marked.metadata.annotations?.[annotationKeys.orphanNode] ?? "";
    expect(JSON.parse(text)).toMatchObject({ providerID: "vm-lost", machine: "lost", deleteAfter: expect.any(String) });
    expect(readNodeMark(marked)).toEqual({
      machineClass: "default/small",
      cordoned: cordons,
    });
  });

  it("is cordoned once: a user may uncordon it until it is drained", () => {
    expect(decide({ node: aNode() }).actions).toEqual([]);
  });

  it.each([
    [true, { spec: { unschedulable: null } }],
    [false, {}],
  ])("gets back what was taken from it when the VM has a machine again", (cordons, spec) => {
    const decision = decide({ vm: undefined, mark: { machineClass: "default/small", cordoned: cordons } });
    expect(decision.stops).toBe(true);
    const annotations = {
      [annotationKeys.orphanNode]: null,
      [annotationKeys.drainState]: null,
      [annotationKeys.interruptionDeadline]: null,
    };
    expect(decision.actions).toEqual([
      { kind: "PatchNode", name: "node", patch: { metadata: { resourceVersion: undefined, annotations }, ...spec } },
    ]);
    expect(decide({ vm: undefined, mark: undefined }).actions).toEqual([]);
  });
});

describe("its drain", () => {
  const pods = [aPod("web")];

  it("evicts pods, and stores nothing but on the Node", () => {
    const { actions, status, isDrained } = draining({ pods });
    expect(actions).toEqual([expect.objectContaining({ kind: "EvictPod", name: "web" })]);
    expect([status?.currentStatus?.phase, isDrained]).toEqual(["Terminating", undefined]);
    const clocked = draining({ pods, drainObservedSince: begun }, {}, later(10 * 60_000));
    expect(clocked.actions).toContainEqual({
      kind: "PatchNode",
      name: "node",
      patch: { metadata: { annotations: { [annotationKeys.drainState]: expect.stringContaining("countedMs") } } },
    });
    expect(clocked.requeueAfterMs).toBeGreaterThan(0);
  });

  it("stores a notice of the cloud on the Node", () => {
    const key = "aws-node-termination-handler/spot-itn";
    const node = aNode({ spec: { unschedulable: true, taints: [{ key, value: "1", effect: "NoSchedule" }] } });
    const { actions } = draining({ node, pods }, { node });
    expect(actions).toContainEqual({
      kind: "PatchNode",
      name: "node",
      patch: { metadata: { annotations: { [annotationKeys.interruptionDeadline]: expect.any(String) } } },
    });
  });

  it("ends with an event when nothing is left to evict", () => {
    const { isDrained, because } = draining();
    expect([isDrained, because]).toEqual([
      true,
      [
        expect.objectContaining({
          reason: "OrphanVMDrained",
          message: expect.stringMatching(/^The drain of Node node of VM vm-lost has ended: /),
        }),
      ],
    ]);
    expect(draining({ pods }, { isDrained: true }).actions).toEqual([]);
  });

  it("is forced after the drain timeout, and volumes are released", () => {
    const attachments = [{ metadata: { name: "a", uid: "uid-a" }, spec: { nodeName: "node" } }];
    const forced = draining({ pods, attachments }, {}, later(2 * HOUR + 60_001));
    expect(forced.actions.map(({ kind }) => kind)).toEqual(["DeletePod", "DeleteVolumeAttachment"]);
    expect(forced.isDrained).toBe(true);
  });

  it("deletes no pod of a Node that is unreachable: its VM is deleted first", () => {
    const node = aNode({ spec: { unschedulable: true }, status: { conditions: unready } });
    const { actions, isDrained } = draining({ node, pods }, { node }, later(HOUR));
    expect([actions, isDrained]).toEqual([[], true]);
  });

  it("calls no driver while the Node is not ready: lists show whether there is a VM", () => {
    const conditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: testNow.toISOString() }];
    const node = aNode({ spec: { unschedulable: true }, status: { conditions } });
    expect(draining({ node, pods }, { node }).actions).toEqual([expect.objectContaining({ kind: "EvictPod" })]);
  });

  it.each<[string, Partial<OrphanNodeSnapshot>]>([
    ["nothing can be concluded from the machines", { doubt: "doubt" }],
    ["no list of this process shows that the VM may be deleted", { isAllowed: false }],
  ])("stops while %s", (_, change) => {
    expect(draining({ pods }, change)).toMatchObject({ actions: [], stops: true });
  });

  it("cordons and marks a Node that was not, unless it refuses that for the whole drain timeout", () => {
    const unmarked = draining({ pods }, { mark: undefined, node: aNode() });
    expect(unmarked.actions).toEqual([expect.objectContaining({ kind: "PatchNode" })]);
    const own = { machineClass: "default/small", cordoned: false };
    expect(draining({ pods }, { mark: own, node: aNode() }).actions).toEqual([
      expect.objectContaining({ kind: "PatchNode" }),
    ]);
    expect(draining({ pods }, { mark: own }).actions).toEqual([expect.objectContaining({ kind: "EvictPod" })]);
    const late = draining({ pods }, { mark: undefined }, later(2 * HOUR + 60_001));
    expect(late.actions).toEqual([expect.objectContaining({ kind: "DeletePod" })]);
  });

  it("names what blocks it once", () => {
    const budgets = [
      {
        metadata: { name: "web", namespace: "default" },
        spec: { selector: {}, maxUnavailable: 0 },
        status: { expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 },
      },
    ];
    const blocked = { pods, drain: aDrainView({ pods, budgets }) };
    const { because, status } = draining(blocked);
    expect(because).toEqual([expect.objectContaining({ reason: "DrainBlocked" })]);
    const again = draining({
      ...blocked,
      machine: aMachine({ metadata: { deletionTimestamp: testNow.toISOString() }, status: status ?? {} }),
    });
    expect(again.because).toEqual([]);
  });
});

describe("once the VM is deleted", () => {
  const node = aNode({ metadata: { finalizers: [finalizers.node] }, spec: { unschedulable: true } });
  const deleted = (change: SnapshotChange = {}, now = testNow) => {
    const lastOperation = {
      type: "Delete",
      state: "Processing",
      description: "VM deletion was successful. Initiate node object deletion",
      lastUpdateTime: testNow.toISOString(),
      reason: "VmDeleted",
    } as const;
    const status = { currentStatus: { phase: "Terminating" }, lastOperation } as const;
    const leaving = leavingOf({ node, ...change }, { status });
    return decide({ node, vm: vmOf({ draining: begun, deleted: begun }), leaving }, now);
  };

  it("the Node is deleted by its UID, with our finalizer", () => {
    expect(deleted().actions.map(({ kind }) => kind)).toEqual(["PatchNode", "DeleteNode"]);
    expect(deleted().actions.at(-1)).toEqual({ kind: "DeleteNode", name: "node", uid: "uid-node" });
  });

  it("the Node stays until Kubernetes has released its volumes", () => {
    const attachments = [{ metadata: { name: "a", uid: "uid-a" }, spec: { nodeName: "node" } }];
    const { actions, requeueAfterMs } = deleted({ attachments });
    expect(actions.map(({ kind }) => kind)).not.toContain("DeleteNode");
    expect(requeueAfterMs).toBeGreaterThan(0);
  });
});
