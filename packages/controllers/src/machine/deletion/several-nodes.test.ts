import { finalizers } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { decideDrain } from "../../drain/decide-drain.ts";
import type { Node } from "../../model/node-objects.ts";
import { aDrainView, drainTerms } from "../../testing/drain-views.ts";
import { aPod, at, cordoned, decide, marker } from "../../testing/deletions.ts";
import { kindsOf, later, succeeded, testNow } from "../../testing/snapshots.ts";
import type { UsedNode } from "../state/snapshot.ts";

/** A further node of the VM. */
const second = (ready: string, change: Partial<Node["metadata"]> = {}, unschedulable = true): Node => {
  const node = cordoned({
    spec: { unschedulable },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });
  return { ...node, metadata: { ...node.metadata, name: "second", uid: "uid-second", ...change } };
};
const used = (node: Node, more: Partial<UsedNode> = {}): UsedNode => ({ node, pods: [], attachments: [], ...more });

describe("the drain of two nodes of one VM", () => {
  const view = (unschedulable: boolean, change = {}) =>
    aDrainView({
      node: cordoned({ spec: { unschedulable } }),
      otherNodes: [second("True", {}, unschedulable)],
      ...change,
    });

  it("cordons both", () => {
    expect(decideDrain(view(false), drainTerms(), testNow).actions).toEqual([
      { kind: "PatchNode", name: "node", patch: { spec: { unschedulable: true } } },
      { kind: "PatchNode", name: "second", patch: { spec: { unschedulable: true } } },
    ]);
  });

  it("reads the pods of both before it ends", () => {
    expect(decideDrain(view(true, { knownPods: "unconfirmed" }), drainTerms(), testNow).actions).toEqual([
      { kind: "ReadPods", nodeName: "node" },
      { kind: "ReadPods", nodeName: "second" },
    ]);
  });

  it("evicts the pods of both, each by the cordon of its own node", () => {
    const tolerating = (name: string, nodeName: string) =>
      aPod(name, {
        metadata: { creationTimestamp: "2026-01-01T00:20:00Z" },
        spec: { nodeName, tolerations: [{ operator: "Exists" }] },
      });
    const taintedAt = (timeAdded: string) => ({
      unschedulable: true,
      taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded }],
    });
    const given = aDrainView({
      node: cordoned({ spec: taintedAt("2026-01-01T00:15:00Z") }),
      otherNodes: [{ ...second("True"), spec: taintedAt("2026-01-01T00:25:00Z") }],
      pods: [tolerating("returned", "node"), tolerating("there", "second")],
    });
    expect(decideDrain(given, drainTerms(), later(30 * 60_000)).actions).toEqual([
      expect.objectContaining({ kind: "EvictPod", name: "there" }),
    ]);
  });

  it("ends only after the other one was read, where that is not ready and was left out", () => {
    const machine = at(marker.drain);
    const otherNodes = [used(second("Unknown"))];
    const unread = decide({ machine, node: cordoned(), otherNodes, unreadNode: "second" });
    expect(unread.actions).toContainEqual({ kind: "ReadNode", name: "second" });
    expect(kindsOf(unread)).not.toContain("StartOperation");
    expect(kindsOf(decide({ machine, node: cordoned(), otherNodes }))).toContain("StartOperation");
    const ready = [used(second("True"))];
    expect(kindsOf(decide({ machine, node: cordoned(), otherNodes: ready, unreadNode: "node" }))).toContain(
      "StartOperation",
    );
  });
});

describe("the nodes of a VM that was deleted", () => {
  const machine = at(marker.vm);
  const operation = succeeded("delete");

  it("are all deleted by UID, without our finalizer, and named", () => {
    const otherNodes = [used(second("Unknown", { finalizers: [finalizers.node] }))];
    const { actions, because } = decide({ machine, node: cordoned(), otherNodes, operation });
    expect(actions).toEqual([
      { kind: "DeleteNode", name: "node", uid: "uid-node" },
      expect.objectContaining({ kind: "PatchNode", name: "second" }),
      { kind: "DeleteNode", name: "second", uid: "uid-second" },
      expect.objectContaining({ kind: "PatchMachine" }),
    ]);
    expect(because[0]?.message).toContain(
      'Deletion of Node Object "node" is successful. Deletion of Node Object "second" is successful',
    );
  });

  it("are released by Kubernetes first, each where it has pods or volumes", () => {
    const otherNodes = [
      used(second("Unknown"), { pods: [aPod("web", { spec: { nodeName: "second" } })] }),
      used(second("Unknown", { name: "third", uid: "uid-third", deletionTimestamp: "2026-01-01T00:10:00Z" })),
    ];
    const { actions, requeueAfterMs } = decide({ machine, node: cordoned(), otherNodes, operation });
    expect(actions).toEqual([
      { kind: "DeleteNode", name: "node", uid: "uid-node" },
      expect.objectContaining({ kind: "PatchNode", name: "second", mayFail: true }),
    ]);
    expect(requeueAfterMs).toBe(60_000);
  });
});
