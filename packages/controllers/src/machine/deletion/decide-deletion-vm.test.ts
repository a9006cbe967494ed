import type { MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { noRequestAnnotation } from "../../model/creation-intent.ts";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, annotated, beingDeleted, type Change, inPhase, labeled } from "../../testing/builders.ts";
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
  unusable,
  withVm,
} from "../../testing/snapshots.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { withIntent } from "../../testing/creations.ts";
import { aPod, at, cordoned, decide, marker, textOf } from "../../testing/deletions.ts";

describe("deleting the VM", () => {
  const machine = at(marker.vm);

  it("stores the driver's state, and clears it when the driver returns none", () => {
    const left = [{ metadata: { name: "va", uid: "uid-va" } }];
    const remembering = at(marker.vm, { status: { lastKnownState: "op-1" } });
    const stateAfter = (operation: MachineSnapshot["operation"]): string | undefined =>
      decide({ machine: remembering, node: itsNode(), attachments: left, operation }).status?.lastKnownState;
    expect(stateAfter(failed("delete", "Unavailable", { lastKnownState: "op-2" }))).toBe("op-2");
    expect(stateAfter(succeeded("delete", { lastKnownState: "op-3" }))).toBe("op-3");
    expect(stateAfter(succeeded("delete"))).toBeUndefined();
    expect(stateAfter(running("delete"))).toBe("op-1");
  });

  test.each([
    ["the look-up", "find", aMachine(beingDeleted("2026-01-01T00:10:00Z"))],
    ["the deletion", "delete", at(marker.vm)],
  ] as const)(
    "reports a failure of %s at growing intervals, although each attempt has another request id",
    (_, kind, first) => {
      let current: Machine = first;
      const writes: number[] = [];
      for (let failures = 1; failures <= 20; failures++) {
        const id = `${String(failures).padStart(8, "0")}-1111-2222-3333-444444444444`;
        const attempt = { failures, message: `denied (request ${id})`, endedAt: later(failures * 60_000).getTime() };
        const operation = failed(kind, "Internal", attempt);
        const decision = decide({ machine: current, operation }, later(failures * 60_000));
        if (decision.status?.lastOperation?.description !== current.status?.lastOperation?.description)
          writes.push(failures);
        current = machineAfter(aSnapshot({ machine: current }), decision);
      }
      expect(writes).toEqual([1, 2, 4, 8, 16]);
      expect(current.status?.lastOperation?.description).toContain("(request 00000001-1111-2222-3333-444444444444)");
    },
  );

  it("ends without a class only if no VM was ever requested", () => {
    const classView = unusable("MachineClassNotFound", "no class", true);
    const unasked = at(marker.vm, { spec: { providerID: null } });
    expect(kindsOf(decide({ machine: unasked, classView }))).toEqual(["PatchMachine"]);
    const asked = at(marker.vm, { spec: { providerID: null } }, withIntent);
    expect(decide({ machine: asked, classView })).toMatchObject({
      actions: [],
      status: { lastOperation: { description: expect.stringContaining("a VM that may exist"), state: "Failed" } },
    });
  });

  it("waits for a pending deletion, with the driver's message, and calls again when it is due", () => {
    const operation = pending("delete");
    const first = decide({ machine, node: itsNode(), operation });
    expect(first).toMatchObject({
      actions: [],
      status: {
        lastOperation: {
          type: "Delete",
          state: "Processing",
          description: "VM deletion is in progress: wiping disks. Initiate VM deletion",
        },
      },
      because: [{ type: "Normal", reason: "Deleting" }],
      requeueAfterMs: 60_000,
    });
    const waiting = machineAfter(aSnapshot({ machine }), first);
    const quiet = decide({ machine: waiting, node: itsNode(), operation }, later(1));
    expect(quiet).toMatchObject({ actions: [], status: waiting.status, because: [], requeueAfterMs: 59_999 });
    const words = decide({ machine: waiting, node: itsNode(), operation: pending("delete", "resetting the BMC") });
    expect(words.status?.lastOperation?.description).toContain("resetting the BMC");
    expect(words.because).toEqual([]);
    const [id, another] = ["0123456789abcdef", "fedcba9876543210"].map((each) => pending("delete", `job ${each}`));
    const named = machineAfter(aSnapshot({ machine }), decide({ machine, operation: id }));
    expect(decide({ machine: named, operation: another }, later(1)).status).toEqual(named.status);
    const again = decide({ machine: waiting, node: itsNode(), operation }, later(60_000));
    expect(again).toMatchObject({ actions: [{ kind: "StartOperation", operation: "delete" }], because: [] });
    expect(again.status).toEqual(waiting.status);
    // The next process has no outcome: it continues from the marker.
    expect(decide({ machine: waiting, node: itsNode() }).actions).toEqual([
      { kind: "StartOperation", operation: "delete" },
    ]);
  });

  it("ends when the driver reports that there is no VM", () => {
    const decision = decide({ machine, operation: failed("delete", "NotFound") });
    expect(kindsOf(decision)).toEqual(["PatchMachine"]);
    expect(decision.because[0]?.message).toMatch(/^VM not found\. Continuing deletion flow; /);
  });

  const others = (Object.keys(machineErrorCodes) as MachineErrorCode[]).filter((code) => code !== "NotFound");
  test.each(others)("stays when the driver fails with %s, and retries forever", (code) => {
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
    expect(decision.requeueAfterMs).toBe(isSoon ? 5_000 : 600_000);

    const acknowledged = { ...operation, isAcknowledged: true };
    const waiting = machineAfter(aSnapshot({ machine }), decision);
    const quiet = decide({ machine: waiting, node: itsNode(), operation: acknowledged }, later(1));
    expect(quiet).toMatchObject({ actions: [], status: waiting.status, because: [] });
    const retry = decide({ machine: waiting, node: itsNode(), operation: acknowledged }, later(600_000));
    expect(retry).toMatchObject({ actions: [{ kind: "StartOperation" }], status: waiting.status, because: [] });
  });

  it.each([
    ["look-up", "find", aMachine(beingDeleted("2026-01-01T00:10:00Z"))],
    ["deletion", "delete", machine],
  ] as const)(
    "does not report a failed %s again when another process has reported a later one: the two would never end",
    (_, kind, deleted) => {
      const ours = failed(kind, "Internal", { isAcknowledged: true });
      const theirs = decide({ machine: deleted, operation: failed(kind, "ResourceExhausted") });
      const reported = machineAfter(aSnapshot({ machine: deleted }), theirs);
      const decision = decide({ machine: reported, operation: ours }, later(1));
      expect(decision).toMatchObject({ actions: [], status: reported.status, because: [] });
      // A status that was lost is reported again.
      expect(decide({ machine: deleted, operation: ours }, later(1)).status?.lastOperation?.description).toContain(
        "code = [Internal]",
      );
    },
  );

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
        description: "Cannot delete VM vm-1: no class. Initiate VM deletion",
      });
    }
  });

  const idless = (...changes: readonly Change<Machine>[]) => aMachine(beingDeleted("2026-01-01T00:10:00Z"), ...changes);

  it("releases a machine that never had a class, and so never a VM", () => {
    expect(kindsOf(decide({ machine: idless(), classView: unusable("X", "no class", true) }))).toEqual([
      "PatchMachine",
    ]);
  });

  it("releases a machine for which no VM was requested, whatever is wrong with its class, and calls no driver", () => {
    const machine = idless(annotated(noRequestAnnotation));
    for (const classView of [aSnapshot().classView, unusable("SecretNotFound", "no secret")])
      expect(decide({ machine, classView })).toMatchObject({
        actions: [{ kind: "PatchMachine" }],
        because: [{ message: expect.stringMatching(/^No VM was requested for the machine, skipping node drain/) }],
      });
    const withId = aMachine(beingDeleted("2026-01-01T00:10:00Z"), withVm, annotated(noRequestAnnotation));
    expect(kindsOf(decide({ machine: withId }))).toEqual(["StartOperation"]);
  });

  it("keeps a machine that may have a VM when its class cannot be used, unless deletion is forced", () => {
    const classView = unusable("SecretNotFound", "no secret");
    expect(textOf({ machine: idless(), classView })).toBe(
      "Delete Failed: Cannot delete a VM that may exist: no secret. Set machine status to termination. Now, getting VM Status",
    );
    const forced = idless(labeled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine: forced, classView }))).toEqual(["PatchMachine"]);
  });
});

describe("a machine without a VM whose class the driver rejects", () => {
  const machine = (...changes: readonly Change<Machine>[]) =>
    aMachine(beingDeleted("2026-01-01T00:10:00Z"), ...changes);
  const forced = labeled({ "force-deletion": "True" });

  it("is kept, since the VM cannot be looked up, and reports what to do", () => {
    const operation = failed("find", "InvalidArgument");
    expect(textOf({ machine: machine(), operation })).toContain("Fix the MachineClass or its Secret");
  });

  it("is deleted with force-deletion, which confirms that there is no VM", () => {
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
  it("is done when the API server has accepted it, so that the machine is deleted in the same reconcile", () => {
    const node = itsNode({ metadata: { deletionTimestamp: "2026-01-01T00:10:00Z" } });
    expect(kindsOf(decide({ machine: at(marker.node), node: itsNode() }))).toEqual(["DeleteNode", "PatchMachine"]);
    expect(kindsOf(decide({ machine: at(marker.node), node }))).toEqual(["PatchMachine"]);
  });

  it("removes its finalizer from a node that another client deleted", () => {
    const node = itsNode({
      metadata: {
        finalizers: ["node.machine.sapcloud.io/machine-controller"],
        deletionTimestamp: "2026-01-01T00:09:00Z",
      },
    });
    expect(kindsOf(decide({ machine: at(marker.node), node }))).toEqual(["PatchNode", "PatchMachine"]);
  });

  describe("of a VM that was deleted under its pods and volumes", () => {
    const vmDeleted = "VM deletion was successful. Initiate node object deletion";
    const attachments = [{ metadata: { name: "va", uid: "uid-va" } }];
    const since = (lastUpdateTime: string): Change<Machine> => ({ status: { lastOperation: { lastUpdateTime } } });
    const justNow = since("2026-01-01T00:10:00Z");
    const tainted = itsNode({
      spec: { taints: [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }] },
    });

    it("adds the out-of-service taint first, and keeps other taints", () => {
      const node = itsNode({ spec: { taints: [{ key: "a", effect: "NoSchedule" }] } });
      const decision = decide({ machine: at(vmDeleted, justNow), node, attachments });
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
      ["the driver reports it", { machine: at(marker.vm), operation: succeeded("delete") }],
      ["the status contains it", { machine: at(vmDeleted, justNow) }],
      [
        "the status contains that there was none",
        { machine: at(`VM not found. Continuing deletion flow. ${marker.node}`, justNow) },
      ],
    ])("when %s", (_, change) => {
      expect(kindsOf(decide({ ...change, node: itsNode(), attachments }))).toEqual(["PatchNode"]);
      expect(kindsOf(decide({ ...change, node: itsNode(), pods: [aPod("left")] }))).toEqual(["PatchNode"]);
    });

    it("when the driver finds none, and the kubelet is silent", () => {
      const change = { machine: at(marker.vm), operation: failed("delete", "NotFound"), attachments };
      const node = itsNode({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
      expect(kindsOf(decide({ ...change, node }))).toEqual(["PatchNode"]);
    });

    it("never while a VM may be there, whose pods would run on", () => {
      const machine = at("Something else. Initiate node object deletion", justNow);
      expect(kindsOf(decide({ machine, node: itsNode(), attachments }))).toEqual(["DeleteNode", "PatchMachine"]);
      // Deleted by force, without a driver call.
      const forced = aMachine(beingDeleted("2026-01-01T00:10:00Z"), labeled({ "force-deletion": "True" }));
      const classView = unusable("SecretNotFound", "no secret");
      expect(kindsOf(decide({ machine: forced, classView, node: cordoned(), attachments }))).toEqual([
        "DeleteVolumeAttachment",
        "DeleteNode",
        "PatchMachine",
      ]);
      const operation = failed("delete", "Internal");
      expect(kindsOf(decide({ machine: at(vmDeleted, justNow), operation, node: itsNode(), attachments }))).toEqual([
        "DeleteNode",
        "PatchMachine",
      ]);
    });

    it("waits a minute for it, and continues as soon as nothing is left", () => {
      const machine = at(vmDeleted, since("2026-01-01T00:09:30Z"));
      const waiting = decide({ machine, node: tainted, attachments });
      expect([waiting.actions, waiting.requeueAfterMs]).toEqual([[], 30_000]);
      expect(kindsOf(decide({ machine, node: tainted, attachments }, later(30_000)))).toEqual([
        "DeleteNode",
        "PatchMachine",
      ]);
      expect(kindsOf(decide({ machine, node: tainted }))).toEqual(["DeleteNode", "PatchMachine"]);
    });

    it("tolerates missing fields of machine and node", () => {
      const bare: Node = { metadata: { name: "node" } };
      const decision = decide({ machine: at(marker.vm), operation: succeeded("delete"), node: bare, attachments });
      expect(decision.actions).toMatchObject([{ kind: "PatchNode", patch: { metadata: {}, spec: { taints: [{}] } } }]);
      const silent = aMachine(withVm, inPhase("Terminating"), beingDeleted("2026-01-01T00:10:00Z"), {
        status: { lastOperation: { type: "Delete", state: "Processing", description: vmDeleted } },
      });
      // Without a time the start of the wait is unknown.
      expect(kindsOf(decide({ machine: silent, node: tainted, attachments }))).toEqual(["DeleteNode", "PatchMachine"]);
    });

    it("does not wait for pods that stay with their node", () => {
      const mirror = aPod("mirror", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } });
      expect(kindsOf(decide({ machine: at(vmDeleted, justNow), node: itsNode(), pods: [mirror] }))).toEqual([
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
