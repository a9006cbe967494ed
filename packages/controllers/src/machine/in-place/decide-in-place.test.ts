import {
  annotationKeys,
  inPlaceUpdateMessages,
  labelKeys,
  type Machine,
  type MachinePhase,
  phaseOf,
} from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { Node, Pod } from "../../cluster/node-objects.ts";
import { aMachine, type Change, inPhase } from "../../testing/builders.ts";
import { type LivingMachine, passOver, untilAtRest } from "../../testing/living-machine.ts";
import { aSnapshot, itsNode, kindsOf, lastly, later, testNow, withVm } from "../../testing/snapshots.ts";
import { decideInPlace } from "./decide-in-place.ts";

const candidate = { [labelKeys.candidateForUpdate]: "true" };
const selected = { ...candidate, [labelKeys.selectedForUpdate]: "true" };
const successful = { ...selected, [labelKeys.updateResult]: "successful" };
const failed = { ...selected, [labelKeys.updateResult]: "failed" };

const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
const stage = (reason: string, lastTransitionTime: string | undefined = "2026-01-01T00:05:00Z") => ({
  type: "InPlaceUpdate",
  status: "True",
  reason,
  message: inPlaceUpdateMessages[reason as keyof typeof inPlaceUpdateMessages] ?? "",
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});
const aNodeWith = (
  labels: Readonly<Record<string, string>>,
  reason: string | undefined,
  { metadata, ...change }: Parameters<typeof itsNode>[0] = {},
): Node =>
  itsNode({
    status: { conditions: [ready, ...(reason === undefined ? [] : [stage(reason)])] },
    metadata: { labels, ...metadata },
    ...change,
  });
const aMachineIn = (phase: MachinePhase, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(withVm, inPhase(phase), lastly("Create", "Successful", "joined"), ...changes);
const aPod = (name: string, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "default", uid: name, ...metadata },
  spec: { nodeName: "node" },
});
const world = (machine: Machine, node: Node | undefined, ...pods: readonly Pod[]): LivingMachine => ({
  machine,
  node,
  pods,
});
const reasonOf = ({ node }: LivingMachine): string | undefined =>
  node?.status?.conditions?.find(({ type }) => type === "InPlaceUpdate")?.reason;
const messageOf = ({ node }: LivingMachine): string | undefined =>
  node?.status?.conditions?.find(({ type }) => type === "InPlaceUpdate")?.message;
const once = (start: LivingMachine, now = testNow) => passOver(start, decideInPlace, now);

describe("labels of the node become its condition (machine-controller.md, 10.9)", () => {
  it.each<[string, Readonly<Record<string, string>>, string | undefined, MachinePhase, string | undefined]>([
    ["a candidate without condition is said to be one", candidate, undefined, "Running", "CandidateForUpdate"],
    ["a candidate stays one", candidate, "CandidateForUpdate", "Running", "CandidateForUpdate"],
    [
      "a node of an earlier update is a candidate again",
      candidate,
      "UpdateSuccessful",
      "Running",
      "CandidateForUpdate",
    ],
    ["an update whose labels stand is over", successful, "UpdateSuccessful", "Running", "UpdateSuccessful"],
    ["a selected candidate is selected", selected, "CandidateForUpdate", "Running", "SelectedForUpdate"],
    ["a selected node passes through CandidateForUpdate first", selected, undefined, "Running", "CandidateForUpdate"],
    [
      "a node that is selected but no candidate stays",
      { [labelKeys.selectedForUpdate]: "true" },
      "CandidateForUpdate",
      "Running",
      "CandidateForUpdate",
    ],
    ["a node without labels stays without condition", {}, undefined, "Running", undefined],
    ["a drained node is handed to the agent", selected, "DrainSuccessful", "InPlaceUpdating", "ReadyForUpdate"],
    ["a node that was drained is said to be", selected, "SelectedForUpdate", "InPlaceUpdating", "DrainSuccessful"],
    [
      "a node that was drained too late is said to be",
      selected,
      "SelectedForUpdate",
      "InPlaceUpdateFailed",
      "DrainSuccessful",
    ],
    ["success is success", successful, "ReadyForUpdate", "InPlaceUpdating", "UpdateSuccessful"],
    ["failure is failure", failed, "DrainSuccessful", "InPlaceUpdating", "UpdateFailed"],
    ["a node that is ready waits for the agent", selected, "ReadyForUpdate", "InPlaceUpdating", "ReadyForUpdate"],
    [
      "a result that nobody knows is none",
      { ...selected, [labelKeys.updateResult]: "great" },
      "ReadyForUpdate",
      "InPlaceUpdating",
      "ReadyForUpdate",
    ],
    ["success after failure counts", successful, "UpdateFailed", "InPlaceUpdateFailed", "UpdateSuccessful"],
    ["failure after failure is no news", failed, "UpdateFailed", "InPlaceUpdateFailed", "UpdateFailed"],
    [
      "failure after success changes nothing",
      failed,
      "UpdateSuccessful",
      "InPlaceUpdateSuccessful",
      "UpdateSuccessful",
    ],
    [
      "a result before the drain changes nothing",
      { ...candidate, [labelKeys.updateResult]: "successful" },
      "CandidateForUpdate",
      "Running",
      "CandidateForUpdate",
    ],
    [
      "the machine controller that went before wrote the phase only",
      successful,
      "ReadyForUpdate",
      "Running",
      "UpdateSuccessful",
    ],
    [
      "a late result of a machine that is given up changes nothing",
      successful,
      "ReadyForUpdate",
      "Failed",
      "ReadyForUpdate",
    ],
    ["a reason of another version is left alone", successful, "Hibernating", "Running", "Hibernating"],
  ])("%s", (_, labels, before, phase, after) => {
    const { world: then } = once(world(aMachineIn(phase), aNodeWith(labels, before)));
    expect(reasonOf(then)).toBe(after);
    expect(JSON.stringify(then.node?.metadata.labels)).toBe(JSON.stringify(labels));
  });

  it("says nothing without a node", () => {
    expect(decideInPlace(aSnapshot({ machine: aMachineIn("Running") }), testNow)).toEqual({ actions: [], because: [] });
  });

  it("says nothing of a node that says nothing", () => {
    const node = { metadata: { name: "node" } };
    expect(decideInPlace(aSnapshot({ machine: aMachineIn("Running"), node }), testNow)).toEqual({
      actions: [],
      because: [],
    });
  });

  it("writes the condition alone, with its message, and the time of its transition", () => {
    const { decision } = once(world(aMachineIn("Running"), aNodeWith(candidate, undefined)));
    expect(decision).toEqual({
      actions: [
        {
          kind: "PatchNodeStatus",
          name: "node",
          patch: {
            conditions: [
              {
                type: "InPlaceUpdate",
                status: "True",
                reason: "CandidateForUpdate",
                message: "Node is a candidate for in-place update",
                lastHeartbeatTime: "2026-01-01T00:10:00Z",
                lastTransitionTime: "2026-01-01T00:10:00Z",
              },
            ],
          },
        },
      ],
      because: [],
    });
  });

  it("repeats the reason that the agent gives for a failure, up to a length", () => {
    const start = (reason: string) =>
      world(
        aMachineIn("InPlaceUpdating"),
        aNodeWith(failed, "ReadyForUpdate", {
          metadata: { labels: failed, annotations: { [annotationKeys.updateFailedReason]: reason } },
        }),
      );
    expect(messageOf(once(start("disk is full")).world)).toBe("Node in-place update failed: disk is full");
    expect(messageOf(once(start("x".repeat(100_000))).world)?.length).toBeLessThan(1_100);
  });
});

describe("the drain of a selected node", () => {
  const start = (...pods: readonly Pod[]) =>
    world(aMachineIn("Running"), aNodeWith(selected, "SelectedForUpdate"), ...pods);

  it("cordons the node and evicts its pods, and says so", () => {
    const { decision } = once(start(aPod("a"), aPod("b")));
    expect(kindsOf(decision)).toEqual(["PatchNode", "EvictPod", "EvictPod"]);
    expect(decision.status?.lastOperation).toMatchObject({ type: "DrainNode", state: "Processing" });
    expect(decision.status?.currentStatus?.phase).toBe("Running");
  });

  it("ends in InPlaceUpdating; the node is told once that is stored (F11)", () => {
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
    const told = once(drained).world;
    expect(reasonOf(told)).toBe("DrainSuccessful");
    expect(reasonOf(once(told).world)).toBe("ReadyForUpdate");
  });

  it("keeps the expiry of a preservation (F23)", () => {
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
      true,
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
      "a node that is not ready since nobody knows when",
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
    expect(decision.because.map(({ message }) => message)).toEqual(
      isForced ? ["Node node is drained by force; the agent on it may update it"] : [],
    );
  });

  it("asks to be woken when a node that is not ready becomes one that is lost", () => {
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
    expect(decision.wakeAfterMs).toBe(3 * 60_000 + 1);
    expect(once(world(aMachineIn("Unknown"), cordoned, going), later(3 * 60_000 + 1)).world.pods).toEqual([]);
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

describe("the report of the agent becomes the phase", () => {
  const updating = aMachineIn("InPlaceUpdating", {
    status: { currentStatus: { lastUpdateTime: "2026-01-01T00:06:00Z" } },
  });
  const givenUp = aMachineIn("InPlaceUpdateFailed", lastly("InPlaceUpdate", "Failed", "timed out"));

  it.each<[string, Machine, Node, MachinePhase, string]>([
    [
      "success",
      updating,
      aNodeWith(successful, "ReadyForUpdate"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "success that comes late",
      givenUp,
      aNodeWith(successful, "ReadyForUpdate"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "success after a failure",
      givenUp,
      aNodeWith(successful, "UpdateFailed"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "success that the node says already",
      updating,
      aNodeWith({}, "UpdateSuccessful"),
      "InPlaceUpdateSuccessful",
      "Machine machine successfully updated dependencies",
    ],
    [
      "failure",
      updating,
      aNodeWith(failed, "ReadyForUpdate"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    [
      "failure that the node says already",
      updating,
      aNodeWith(failed, "UpdateFailed"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    [
      "failure that comes late",
      givenUp,
      aNodeWith(failed, "ReadyForUpdate"),
      "InPlaceUpdateFailed",
      "Machine machine failed to update dependencies: ",
    ],
    ["failure that was told", givenUp, aNodeWith(failed, "UpdateFailed"), "InPlaceUpdateFailed", "timed out"],
    ["nothing", updating, aNodeWith(selected, "ReadyForUpdate"), "InPlaceUpdating", "joined"],
  ])("%s", (_, machine, node, phase, description) => {
    const { world: after } = once(world(machine, node));
    expect(phaseOf(after.machine)).toBe(phase);
    expect(after.machine.status?.lastOperation?.description).toBe(description);
    // A report that stands is told once.
    const again = once(after);
    expect(again.decision.because).toEqual([]);
    expect(again.decision.status ?? after.machine.status).toEqual(after.machine.status);
  });

  it("moves the phase together with the node, so that neither can be seen long without the other", () => {
    const { decision } = once(world(updating, aNodeWith(successful, "ReadyForUpdate")));
    expect(kindsOf(decision)).toEqual(["PatchNodeStatus"]);
    expect(decision.status?.currentStatus?.phase).toBe("InPlaceUpdateSuccessful");
    expect(decision.because).toMatchObject([{ type: "Normal", reason: "InPlaceUpdated" }]);
  });

  it.each<[string, Node | undefined]>([
    ["says nothing", aNodeWith(selected, "ReadyForUpdate")],
    ["is gone with its node", undefined],
  ])("fails when the agent %s until the timeout, and not before", (_, node) => {
    const start = world(updating, node);
    const deadline = new Date("2026-01-01T00:26:00Z");
    const before = once(start, deadline);
    expect([phaseOf(before.world.machine), before.decision.wakeAfterMs]).toEqual(["InPlaceUpdating", 1]);
    const after = once(start, new Date(deadline.getTime() + 1));
    expect(after.world.machine.status).toMatchObject({
      currentStatus: { phase: "InPlaceUpdateFailed", lastUpdateTime: "2026-01-01T00:26:00Z" },
      lastOperation: {
        type: "InPlaceUpdate",
        state: "Failed",
        description: "Machine machine failed to in-place update in 20m0s",
      },
    });
    expect(after.decision.because).toMatchObject([{ type: "Warning", reason: "InPlaceUpdateFailed" }]);
  });

  it("takes the timeout from the machine, and one that never began for one that is over", () => {
    const short = aMachineIn("InPlaceUpdating", { spec: { inPlaceUpdateTimeout: "1m" } });
    expect(phaseOf(once(world(short, aNodeWith(selected, "ReadyForUpdate"))).world.machine)).toBe(
      "InPlaceUpdateFailed",
    );
    const never = aMachineIn("InPlaceUpdating", { status: { currentStatus: { lastUpdateTime: null } } });
    expect(phaseOf(once(world(never, aNodeWith(selected, "ReadyForUpdate"))).world.machine)).toBe(
      "InPlaceUpdateFailed",
    );
  });
});
