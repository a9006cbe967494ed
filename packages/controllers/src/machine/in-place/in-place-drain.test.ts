import { annotationKeys, type MachinePhase, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../model/node-objects.ts";
import { type LivingMachine, untilAtRest } from "../../testing/living-machine.ts";
import { kindsOf, later, testNow } from "../../testing/snapshots.ts";
import { decideInPlace } from "./decide-in-place.ts";
import {
  aMachineIn,
  aNodeWith,
  failed,
  once,
  ready,
  reasonOf,
  selected,
  stage,
  world,
} from "../../testing/updated-machines.ts";

const aPod = (name: string, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "default", uid: name, ...metadata },
  spec: { nodeName: "node" },
});

describe("the drain of a selected node", () => {
  const start = (...pods: readonly Pod[]) =>
    world(aMachineIn("Running"), aNodeWith(selected, "SelectedForUpdate"), ...pods);

  it("cordons the node and evicts its pods, and reports it", () => {
    const { decision } = once(start(aPod("a"), aPod("b")));
    // It was selected ten minutes ago: that time is recorded.
    expect(kindsOf(decision)).toEqual(["PatchNode", "RecordDrain", "EvictPod", "EvictPod"]);
    expect(decision.status?.lastOperation).toMatchObject({ type: "DrainNode", state: "Processing" });
    expect(decision.status?.currentStatus?.phase).toBe("Running");
  });

  it("ends in InPlaceUpdating; the condition of the node follows once that is stored", () => {
    const cordoned = once(start()).world;
    expect(cordoned.node?.spec?.unschedulable).toBe(true);
    const { world: drained, decision } = once(cordoned);
    expect(decision.actions).toEqual([]);
    expect(decision.because).toMatchObject([{ type: "Normal", reason: "InPlaceUpdating" }]);
    expect(drained.machine.status).toMatchObject({
      currentStatus: { phase: "InPlaceUpdating", lastUpdateTime: "2026-01-01T00:10:00Z" },
      lastOperation: {
        type: "InPlaceUpdate",
        state: "Processing",
        description: "Machine machine is undergoing an in-place update",
      },
    });
    expect(reasonOf(drained)).toBe("SelectedForUpdate");
    const reported = once(drained).world;
    expect(reasonOf(reported)).toBe("DrainSuccessful");
    expect(reasonOf(once(reported).world)).toBe("ReadyForUpdate");
  });

  it("keeps the expiry of a preservation", () => {
    const machine = aMachineIn("Running", {
      status: { currentStatus: { preserveExpiryTime: "2026-01-03T00:00:00Z" } },
    });
    const { world: after } = untilAtRest({ ...start(), machine }, decideInPlace, testNow);
    expect(after.machine.status?.currentStatus).toMatchObject({
      phase: "InPlaceUpdating",
      preserveExpiryTime: "2026-01-03T00:00:00Z",
    });
  });

  it.each<[string, Partial<LivingMachine>, boolean]>([
    [
      "a node that has not been ready for ten minutes",
      {
        node: aNodeWith(selected, undefined, {
          status: { conditions: [{ ...ready, status: "Unknown" }, stage("SelectedForUpdate")] },
        }),
      },
      // Its VM may be running, with all containers.
      false,
    ],
    [
      "a node whose disk has been read-only for ten minutes",
      {
        node: aNodeWith(selected, undefined, {
          status: {
            conditions: [
              ready,
              { type: "ReadonlyFilesystem", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
              stage("SelectedForUpdate"),
            ],
          },
        }),
      },
      true,
    ],
    [
      "a machine with the label force-drain",
      { machine: aMachineIn("Running", { metadata: { labels: { "force-drain": "True" } } }) },
      true,
    ],
    [
      "a machine with another value of the label",
      { machine: aMachineIn("Running", { metadata: { labels: { "force-drain": "true" } } }) },
      false,
    ],
    [
      "a machine whose drain timeout has passed since the selection",
      { machine: aMachineIn("Running", { spec: { drainTimeout: "4m" } }) },
      true,
    ],
    [
      "a machine whose drain timeout has not",
      { machine: aMachineIn("Running", { spec: { drainTimeout: "6m" } }) },
      false,
    ],
    [
      "a node that has not been ready for two minutes",
      {
        node: aNodeWith(selected, undefined, {
          status: {
            conditions: [
              { ...ready, status: "False", lastTransitionTime: "2026-01-01T00:08:00Z" },
              stage("SelectedForUpdate"),
            ],
          },
        }),
      },
      false,
    ],
    [
      "a node that has not been ready for an unknown time",
      {
        node: aNodeWith(selected, undefined, {
          status: { conditions: [{ type: "Ready", status: "False" }, stage("SelectedForUpdate")] },
        }),
      },
      false,
    ],
    [
      "a selection without time",
      {
        node: aNodeWith(selected, undefined, {
          status: { conditions: [ready, { type: "InPlaceUpdate", status: "True", reason: "SelectedForUpdate" }] },
        }),
        machine: aMachineIn("Running", { spec: { drainTimeout: "1s" } }),
      },
      false,
    ],
  ])("of %s is forced: see the table", (_, change, isForced) => {
    const { decision, world: after } = once({ ...start(aPod("a")), ...change });
    expect(decision.actions.some(({ kind }) => kind === "DeletePod")).toBe(isForced);
    expect(phaseOf(after.machine)).toBe(isForced ? "InPlaceUpdating" : "Running");
    expect(decision.because.filter(({ type }) => type === "Normal").map(({ message }) => message)).toEqual(
      isForced ? ["Node node is forcibly drained; the agent on it may update it"] : [],
    );
  });

  it("requeues when a node that is not ready becomes one that is lost, and reports that its pods are kept", () => {
    const conditions = [
      { ...ready, status: "False", lastTransitionTime: "2026-01-01T00:08:00Z" },
      stage("SelectedForUpdate"),
    ];
    const cordoned = {
      ...aNodeWith(selected, undefined, { status: { conditions } }),
      spec: { providerID: "vm-1", unschedulable: true },
    };
    const going = aPod("a", { deletionTimestamp: "2026-01-01T00:09:00Z" });
    const { decision } = once(world(aMachineIn("Unknown"), cordoned, going));
    expect(decision.requeueAfterMs).toBe(3 * 60_000 + 1);
    const lost = once(world(aMachineIn("Unknown"), cordoned, going), later(3 * 60_000 + 1));
    expect(lost.world.pods).toHaveLength(1);
    expect(lost.decision.because).toMatchObject([
      { type: "Warning", reason: "DrainBlocked", message: expect.stringContaining("the Node is unreachable") },
    ]);
  });

  it.each<MachinePhase>(["Pending", "Failed", "InPlaceUpdateSuccessful"])("waits while the machine is %s", (phase) => {
    const { decision } = once(world(aMachineIn(phase), aNodeWith(selected, "SelectedForUpdate"), aPod("a")));
    expect(decision).toEqual({ actions: [], because: [] });
  });

  it("removes the report of an older update before the agent can be believed again", () => {
    const labels = { ...failed };
    const node = aNodeWith(labels, "SelectedForUpdate", {
      metadata: { labels, annotations: { [annotationKeys.updateFailedReason]: "old", other: "x" } },
      spec: { unschedulable: true },
    });
    const first = once(world(aMachineIn("Running"), node));
    expect(phaseOf(first.world.machine)).toBe("Running");
    expect(first.world.node?.metadata.labels).toEqual(selected);
    expect(first.world.node?.metadata.annotations).toEqual({ other: "x" });
    const { world: after } = untilAtRest(first.world, decideInPlace, testNow);
    expect([phaseOf(after.machine), reasonOf(after)]).toEqual(["InPlaceUpdating", "ReadyForUpdate"]);
  });
});
