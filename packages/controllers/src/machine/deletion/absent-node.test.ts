import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { type Change, labeled } from "../../testing/builders.ts";
import { aPod, at, cordoned, decide, marker, textOf } from "../../testing/deletions.ts";
import { failed, itsNode, kindsOf, later, type SnapshotChange, unusable } from "../../testing/snapshots.ts";

const HOURS = 3_600_000;
const daemon = aPod("daemon", {
  metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }] },
});
const waiting: SnapshotChange = { machine: at(marker.drain), pods: [aPod("web")] };

describe("a Node that is absent in a drain", () => {
  it("is waited for while pods name it that a drain waits for, and read again and again", () => {
    expect(decide(waiting)).toMatchObject({ actions: [], requeueAfterMs: 5_000 });
    expect(textOf(waiting)).toBe(
      "Delete Processing: Waiting for Node node, which does not exist, or for its pods to be deleted: its VM may run them. Initiate node drain",
    );
    expect(decide({ ...waiting, unreadNode: "node" }).actions).toEqual([{ kind: "ReadNode", name: "node" }]);
    expect(decide({ ...waiting, classView: unusable("x", "y") }).actions).toEqual([]);
  });

  it("is drained when it is back", () => {
    const node = itsNode();
    expect(kindsOf(decide({ ...waiting, node }))).toEqual(["PatchNodeStatus", "PatchNode", "EvictPod"]);
  });

  it.each<[string, SnapshotChange, number]>([
    ["has no pods", { pods: [] }, 0],
    ["has only pods that a drain does not wait for", { pods: [daemon] }, 0],
    ["was deleted by a user who forces it", { machine: at(marker.drain, labeled({ "force-deletion": "True" })) }, 0],
    ["was not back within the drain timeout", {}, 2 * HOURS + 1],
    ["was never known", { machine: at(marker.drain, labeled({ node: "" })) }, 0],
  ])("is not waited for once it %s", (_, change, ms) => {
    expect(kindsOf(decide({ ...waiting, ...change }, later(ms)))).toEqual(["StartOperation"]);
  });
});

describe("a Node whose drain was skipped as it was absent", () => {
  const skipped = textOf({ ...waiting, pods: [] }).replace("Delete Processing: ", "");
  const failing = failed("delete", "Unavailable", { isAcknowledged: true });
  const atVm = (description: string, ...changes: readonly Change<Machine>[]): SnapshotChange => ({
    machine: at(description, ...changes),
    operation: failing,
  });

  it("is on record, also while the VM cannot be deleted", () => {
    expect(skipped).toBe("Node node no longer exists, skipping node drain. Initiate VM deletion");
    const text = textOf(atVm(skipped)).replace("Delete Failed: ", "");
    expect(text).toMatch(/^VM deletion failed due to .* Node node no longer exists, skipping node drain\. Initiate VM/);
    expect(textOf(atVm(text))).toContain("no longer exists");
    expect(textOf(atVm(marker.vm))).not.toContain("no longer exists");
  });

  it("is read before the driver is called again", () => {
    const due = later(600_000);
    expect(decide({ ...atVm(skipped), unreadNode: "node" }, due).actions).toEqual([{ kind: "ReadNode", name: "node" }]);
    expect(kindsOf(decide(atVm(skipped), due))).toEqual(["StartOperation"]);
    expect(kindsOf(decide({ ...atVm(marker.vm), unreadNode: "node" }, due))).toEqual(["StartOperation"]);
  });

  it("is drained when it is back with pods", () => {
    const back = { ...atVm(skipped), node: cordoned(), pods: [aPod("web")] };
    expect(textOf(back)).toMatch(/Node node recovered, draining it before its VM is deleted\. Initiate node drain$/);
    expect(textOf({ ...back, pods: [daemon] })).not.toContain("recovered");
  });
});
