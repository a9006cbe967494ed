import { describe, expect, it } from "vitest";
import { finalizers } from "@millwright/core/machine-api";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { healthy, nodeWith, sick } from "../../testing/node-health.ts";
import { aSnapshot, testNow, withVm } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import type { UsedNode } from "../state/snapshot.ts";
import { decideHealth } from "./decide-health.ts";
import { releaseOtherNodes } from "./several-nodes.ts";

const running = aMachine(withVm, inPhase("Running"), { metadata: { finalizers: [finalizers.machine] } });
const node = nodeWith(healthy);

/** A further node of the VM. */
const other = (name: string, metadata: object = {}, conditions = sick): UsedNode => {
  const given = nodeWith(conditions);
  return { node: { ...given, metadata: { ...given.metadata, name, ...metadata } }, pods: [], attachments: [] };
};
const oneOther =
  "VM vm-1 has 2 Nodes: Node node counts, Node old does not. A kubelet registers another Node when its host name changes. Delete what is out of use";

describe("a VM with several nodes", () => {
  it("has a condition and an event that name them", () => {
    const { status, because } = decideHealth(
      aSnapshot({ machine: running, node, nodeMatch: "same", otherNodes: [other("old")] }),
      testNow,
    );
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "SeveralNodes", status: "True", reason: "SeveralNodes", message: oneOther }),
    );
    expect(because).toEqual([{ type: "Warning", reason: "SeveralNodes", message: oneOther }]);
  });

  it("is reported again when another one counts, and not otherwise", () => {
    const otherNodes = [other("old")];
    const first = decideHealth(aSnapshot({ machine: running, node, nodeMatch: "same", otherNodes }), testNow);
    const machine = { ...running, status: first.status ?? {} };
    const again = decideHealth(aSnapshot({ machine, node, nodeMatch: "same", otherNodes }), testNow);
    expect([again.because, again.status?.conditions]).toEqual([[], machine.status.conditions]);
    const moved = { ...node, metadata: { ...node.metadata, name: "third" } };
    const { because } = decideHealth(aSnapshot({ machine, node: moved, nodeMatch: "same", otherNodes }), testNow);
    expect(because).toEqual([expect.objectContaining({ message: expect.stringContaining("Node third counts") })]);
  });

  it("has the condition no longer than the nodes", () => {
    const snapshot = aSnapshot({ machine: running, node, nodeMatch: "same", otherNodes: [other("old")] });
    const machine = { ...running, status: decideHealth(snapshot, testNow).status ?? {} };
    for (const change of [{ node }, { node: undefined }]) {
      const { status } = decideHealth(aSnapshot({ machine, nodeMatch: "same", ...change }), testNow);
      expect(status?.conditions?.map(({ type }) => type)).not.toContain("SeveralNodes");
    }
  });

  it("is named with three others at most", () => {
    const otherNodes = ["e", "d", "c", "b"].map((name) => other(name));
    const { because } = decideHealth(aSnapshot({ machine: running, node, nodeMatch: "same", otherNodes }), testNow);
    expect(because[0]?.message).toContain("has 5 Nodes: Node node counts, Nodes b, c, d and 1 more do not");
  });

  it("is reported beside a change of phase", () => {
    const machine = aMachine(withVm, inPhase("Unknown"));
    const { because } = decideHealth(
      aSnapshot({ machine, node, nodeMatch: "same", otherNodes: [other("old")] }),
      testNow,
    );
    expect(because.map(({ reason }) => reason)).toEqual(["NodeHealthy", "SeveralNodes"]);
  });
});

describe("a node that does not count and that a user deletes", () => {
  const deleted = { deletionTimestamp: "2026-01-01T00:10:00Z", finalizers: ["foregroundDeletion", finalizers.node] };

  it("loses our finalizer, and the machine stays", () => {
    const otherNodes = [other("old", deleted)];
    const snapshot = aSnapshot({ machine: running, node, nodeMatch: "same", otherNodes });
    const { actions } = decideMachine(snapshot, testNow);
    expect(actions).toContainEqual(
      expect.objectContaining({
        kind: "PatchNode",
        name: "old",
        patch: { metadata: expect.objectContaining({ finalizers: ["foregroundDeletion"] }) },
      }),
    );
    expect(actions.map(({ kind }) => kind)).not.toContain("DeleteMachine");
  });

  it("keeps it while it is not deleted, or ready, and without it there is nothing to do", () => {
    const otherNodes = [
      other("kept", { finalizers: deleted.finalizers }),
      other("ready", deleted, healthy),
      other("free", { ...deleted, finalizers: [] }),
      other("bare", { ...deleted, finalizers: undefined }),
    ];
    expect(releaseOtherNodes(aSnapshot({ machine: running, node, otherNodes })).actions).toEqual([]);
    expect(releaseOtherNodes(aSnapshot({ machine: running, node })).actions).toEqual([]);
  });
});
