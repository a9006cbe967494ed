import { describe, expect, it } from "vitest";
import type { Machine } from "@millwright/core/machine-api";
import { aMachine, beingDeleted, type Change, inPhase, labeled } from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  kindsOf,
  lastly,
  type SnapshotChange,
  succeeded,
  testNow,
  withVm,
} from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const forced = labeled({ "force-deletion": "True" });
const at = (stage: string) => lastly("Delete", "Processing", stage);
const vmDeleted = at("VM deletion was successful. Initiate node object deletion");
const node = itsNode();
const pods = [{ metadata: { name: "web-0", namespace: "default", uid: "p" }, spec: { nodeName: "node" } }];
const lost = (change: SnapshotChange) => decideMachine(aSnapshot({ isTargetLost: true, ...change }), testNow);
const aTerminating = (...changes: readonly Change<Machine>[]): Machine =>
  aMachine(withVm, beingDeleted(), inPhase("Terminating"), ...changes);

describe("a deletion while the API server of the nodes is lost", () => {
  it.each([
    ["its node is known", { node }],
    ["this process has never had a list of the nodes", { isTargetUnread: true }],
  ])("deletes the machine without its node when it is forced and the VM is gone: %s", (_, change) => {
    const decision = lost({ machine: aTerminating(forced, vmDeleted), ...change });
    expect(kindsOf(decision)).toEqual(["PatchMachine"]);
    expect(decision.because).toEqual([
      {
        type: "Warning",
        reason: "NodeNotDeleted",
        message: "The API server of the nodes is unreachable: Node node is not deleted",
      },
      expect.objectContaining({ reason: "Deleting" }),
    ]);
  });

  it.each([
    ["it is not forced", { machine: aTerminating(vmDeleted), node }],
    ["the target answers", { machine: aTerminating(forced, vmDeleted), node, isTargetLost: false }],
    ["the VM may exist", { machine: aTerminating(forced, at("Initiate node object deletion")), node }],
  ])("deletes the node as always when %s", (_, change) => {
    expect(kindsOf(lost(change))).toContain("DeleteNode");
  });

  it("waits with its VM for the first list of the nodes, also when it is forced", () => {
    const decision = lost({ machine: aTerminating(forced), isTargetUnread: true });
    expect(decision.actions).toEqual([]);
    expect(decision.status?.lastOperation?.description).toContain("run with --target-kubeconfig=none");
  });

  it("skips the drain when it is forced, whatever the cache has, and does not return to it", () => {
    const first = lost({ machine: aTerminating(forced, at("Initiate node drain")), node, pods });
    expect(kindsOf(first)).toContain("StartOperation");
    const status = first.status ?? {};
    const next = lost({
      machine: aTerminating(forced, { status }),
      node,
      pods,
      operation: failed("delete", "Unavailable"),
    });
    expect(next.status?.lastOperation?.description ?? "").not.toContain("Initiate node drain");
    const gone = lost({ machine: aTerminating(forced, { status }), node, pods, operation: succeeded("delete", {}) });
    expect(gone.because).toContainEqual(expect.objectContaining({ reason: "NodeNotDeleted" }));
  });
});
