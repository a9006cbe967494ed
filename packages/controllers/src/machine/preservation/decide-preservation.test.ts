import { taintKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, annotated, beingDeleted, inPhase } from "../../testing/builders.ts";
import { isAtRest, type LivingMachine, reconcileOnce, untilAtRest } from "../../testing/living-machine.ts";
import { aSnapshot, testNow, withVm } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { decideNodeSync } from "../node-sync/decide-node-sync.ts";
import { decidePreservation } from "./decide-preservation.ts";
import {
  aMachineIn,
  aNodeWith,
  aPod,
  autoscaler,
  drained,
  foreignTaint,
  future,
  unmarked,
  kept,
  keptFailed,
  L,
  M,
  marksOf,
  N,
  newExpiry,
  type NodeMarks,
  notDrained,
  once,
  P,
  past,
  plain,
  settle,
  taint,
  until,
  withoutNode,
  world,
} from "../../testing/preserved-machines.ts";

it("does not change a node that belongs to another machine, whose annotations may differ", () => {
  const snapshot = aSnapshot({
    machine: aMachineIn("Running"),
    node: aNodeWith({ condition: plain(), annotations: autoscaler }),
  });
  expect(decidePreservation(snapshot, testNow).actions).not.toEqual([]);
  expect(
    decidePreservation({ ...snapshot, link: { ...snapshot.link, competingMachines: ["another"] } }, testNow).actions,
  ).toEqual([]);
});

describe("the preservation of a machine (MCM, `pkg/util/provider/machinecontroller/machine_test.go`)", () => {
  const preservedNode = (marks: NodeMarks = {}): Node =>
    aNodeWith({ condition: plain(), ...marks, annotations: { ...autoscaler, ...marks.annotations } });
  const failedNode = (marks: NodeMarks = {}): Node =>
    preservedNode({ taints: [taint], condition: drained(), ...marks });

  it.each<[string, LivingMachine, Readonly<Record<string, unknown>>]>([
    ["there is no annotation", world(aMachineIn("Running")), { E: undefined, taint: false }],
    ["there is no annotation, and it is Failed", world(aMachineIn("Failed")), { E: undefined, taint: false }],
    ["there is no annotation, and no node", withoutNode(aMachineIn("Failed")), { E: undefined }],
    ["the node has now", world(aMachineIn("Running"), aNodeWith(N("now"))), { ...kept(newExpiry), N: "now", L: "now" }],
    [
      "the node has when-failed and it runs",
      world(aMachineIn("Running"), aNodeWith(N("when-failed"))),
      { E: undefined, N: "when-failed", L: "when-failed", taint: false },
    ],
    [
      "the node has when-failed and it is Failed",
      world(aMachineIn("Failed"), aNodeWith(N("when-failed"))),
      { ...keptFailed(newExpiry), N: "when-failed", L: "when-failed" },
    ],
    [
      "the node has false now",
      world(aMachineIn("Running", until(future), annotated({ [L]: "now" })), preservedNode(N("false"))),
      { ...unmarked, E: undefined, N: "false", L: "false" },
    ],
    [
      "its set requests it on its failure",
      world(aMachineIn("Failed", M("auto-preserved"))),
      { ...keptFailed(newExpiry, "MCM"), M: "auto-preserved" },
    ],
    [
      "it has now, and has expired",
      world(aMachineIn("Running", M("now"), until(past)), preservedNode({ condition: plain(past) })),
      { ...unmarked, E: undefined, M: undefined },
    ],
    [
      "it has when-failed, is Failed, and has expired",
      world(aMachineIn("Failed", M("when-failed"), until(past)), failedNode()),
      { ...unmarked, E: undefined, M: undefined },
    ],
    [
      "its set requested it, and it has expired",
      world(aMachineIn("Failed", M("auto-preserved"), until(past)), failedNode()),
      { ...unmarked, E: undefined, M: undefined },
    ],
    [
      "the node has now, and it has expired",
      world(aMachineIn("Running", annotated({ [L]: "now" }), until(past)), preservedNode(N("now"))),
      { ...unmarked, E: undefined, N: undefined, L: undefined },
    ],
    [
      "it has an invalid value",
      world(aMachineIn("Running", M("forever"))),
      { E: undefined, M: "forever", taint: false },
    ],
    [
      "the node has an invalid value",
      world(aMachineIn("Running", M("now")), aNodeWith(N("forever"))),
      { E: undefined, M: "now", N: "forever", taint: false },
    ],
    [
      "the node has an invalid value while it is preserved",
      world(aMachineIn("Running", until(past)), preservedNode(N("forever"))),
      { E: past, N: "forever", autoscaler: "true" },
    ],
    ["it has now and no node", withoutNode(aMachineIn("Running", M("now"))), { E: newExpiry, M: "now" }],
    [
      "it has now, no node, and has expired",
      withoutNode(aMachineIn("Failed", M("now"), until(past))),
      { E: undefined, M: undefined },
    ],
    [
      "the node has when-failed, the machine now",
      world(aMachineIn("Failed", M("now")), aNodeWith(N("when-failed"))),
      { ...keptFailed(newExpiry), M: undefined, L: "when-failed" },
    ],
    [
      "the node lost its now, the machine has now",
      world(aMachineIn("Running", annotated({ [P]: "now", [L]: "now" }), until(future)), preservedNode()),
      { ...unmarked, E: undefined, M: undefined, L: undefined },
    ],
    [
      "the node's value is empty now",
      world(aMachineIn("Running", annotated({ [L]: "now" }), until(future)), preservedNode(N(""))),
      { ...unmarked, E: undefined, N: "", L: undefined },
    ],
    [
      "it has when-failed and has recovered",
      world(aMachineIn("Running", M("when-failed"), until(future)), failedNode()),
      { ...unmarked, E: undefined, M: "when-failed" },
    ],
    [
      "its set requested it and it has recovered",
      world(aMachineIn("Running", M("auto-preserved"), until(future)), failedNode()),
      { ...unmarked, E: undefined, M: undefined },
    ],
    [
      "its set requested it and it had recovered before",
      world(aMachineIn("Running", M("auto-preserved"))),
      { E: undefined, M: undefined, taint: false },
    ],
    ["it has now and has recovered", world(aMachineIn("Running", M("now"), until(future)), failedNode()), kept(future)],
    [
      "it has now and is Unknown",
      world(aMachineIn("Unknown", M("now"), until(future)), failedNode()),
      { ...kept(future), taint: true },
    ],
    [
      "it has now, is Failed, and its node tainted",
      world(aMachineIn("Failed", M("now")), aNodeWith({ taints: [taint] })),
      keptFailed(newExpiry),
    ],
    [
      "it has when-failed, is Failed, and its node tainted",
      world(aMachineIn("Failed", M("when-failed")), aNodeWith({ taints: [taint] })),
      keptFailed(newExpiry),
    ],
    [
      "its annotation is removed",
      world(aMachineIn("Failed", until(future)), failedNode()),
      { ...unmarked, E: undefined },
    ],
    [
      "another controller lost its expiry",
      world(aMachineIn("Running"), preservedNode()),
      { ...unmarked, E: undefined },
    ],
    [
      "another controller lost its expiry and the node is tainted",
      world(aMachineIn("Running"), aNodeWith({ taints: [taint] })),
      { E: undefined, taint: false, condition: "False Preservation stopped." },
    ],
    [
      "it is preserved and was never written about",
      world(aMachineIn("Running", M("now"), until(future))),
      kept(future),
    ],
    [
      "it was preserved while it ran, and is Failed now",
      world(aMachineIn("Failed", M("now"), until(future)), preservedNode()),
      keptFailed(future),
    ],
    [
      "it was not drained yet when the controller before ended",
      world(aMachineIn("Failed", M("now"), until(future)), preservedNode({ taints: [taint] })),
      keptFailed(future),
    ],
    [
      "the drain had failed",
      world(aMachineIn("Failed", M("now"), until(future)), preservedNode({ taints: [taint], condition: notDrained() })),
      keptFailed(future),
    ],
    [
      "another client requests it now",
      world(aMachineIn("Failed", M("auto-preserved"), until(future)), failedNode()),
      keptFailed(future, "MCM"),
    ],
    ["it has no status yet", world(aMachine(withVm)), { E: undefined }],
    [
      "it has no status yet, and its node is marked",
      world(aMachine(withVm), preservedNode()),
      { ...unmarked, E: undefined },
    ],
  ])("when %s", (_, start, marks) => {
    const { world: end, decision } = settle(start);
    expect(marksOf(end)).toMatchObject(marks);
    expect(decision.actions).toEqual([]);
    expect(end.machine.status?.currentStatus?.lastUpdateTime).toBe(start.machine.status?.currentStatus?.lastUpdateTime);
  });

  it.each([undefined, true, false])("leaves a node alone that nothing binds (unschedulable: %s)", (unschedulable) => {
    const node = aNodeWith({ ...(unschedulable === undefined ? {} : { unschedulable }), taints: [foreignTaint] });
    const { decision } = once(world(aMachineIn("Failed"), node, aPod("a")));
    expect(decision).toEqual({ actions: [], because: [] });
  });

  it("does not delay the deletion of the machine", () => {
    const start = world(aMachineIn("Failed", M("now"), beingDeleted()));
    expect(once(start).decision).toEqual({ actions: [], because: [] });
    expect(once(world(aMachineIn("Terminating", M("now")))).decision).toEqual({ actions: [], because: [] });
  });
});

describe("the recorded value of the node", () => {
  const syncOf = (machine: Readonly<Record<string, string>>, node: Readonly<Record<string, string>>) =>
    once(world(aMachineIn("Running", annotated(machine)), aNodeWith({ annotations: node }))).decision.actions;

  it.each<
    [
      string,
      Readonly<Record<string, string>>,
      Readonly<Record<string, string>>,
      Readonly<Record<string, string | null>> | undefined,
    ]
  >([
    ["is absent while the node has none", { [P]: "when-failed" }, {}, undefined],
    ["nothing new", { [L]: "false" }, { [P]: "false" }, undefined],
    ["is the node's", {}, { [P]: "when-failed" }, { [L]: "when-failed" }],
    ["follows the node's", { [L]: "false" }, { [P]: "when-failed" }, { [L]: "when-failed" }],
    ["replaces the machine's", { [P]: "now", [L]: "false" }, { [P]: "false" }, { [P]: null }],
    ["is the node's, not the machine's", { [P]: "now" }, { [P]: "false" }, { [P]: null, [L]: "false" }],
    ["is removed when the node has none", { [L]: "false" }, {}, { [L]: null }],
    [
      "is removed with the machine's when the node has none",
      { [P]: "now", [L]: "false" },
      {},
      { [P]: null, [L]: null },
    ],
    ["is absent for an empty value", { [P]: "now" }, { [P]: "" }, { [P]: null }],
  ])("is %s", (_, machine, node, annotations) => {
    expect(syncOf(machine, node)).toEqual(
      annotations === undefined ? [] : [{ kind: "PatchMachine", patch: { metadata: { annotations } } }],
    );
  });
});

describe("an invalid value", () => {
  it("is reported in one event, with the valid ones", () => {
    const machine = aMachineIn("Running", M("forever"));
    const [reason] = decidePreservation(aSnapshot({ machine, node: aNodeWith() }), testNow).because;
    expect(reason).toMatchObject({ type: "Warning", reason: "InvalidPreserveValue" });
    const reported = new Map([["InvalidPreserveValue", reason?.message ?? ""]]);
    expect(decidePreservation(aSnapshot({ machine, node: aNodeWith(), reported }), testNow).because).toEqual([]);
    const onNode = decidePreservation(aSnapshot({ machine, node: aNodeWith(N("Now")), reported }), testNow);
    expect(onNode).toMatchObject({ actions: [], because: [{ reason: "InvalidPreserveValue" }] });
    expect(onNode.because[0]?.message).toContain("now, when-failed, auto-preserved, false");
  });
});

it("also starts for a machine without a VM, and continues", () => {
  const machine = aMachine(M("now"), inPhase("CrashLoopBackOff"));
  const { decision, world: after } = reconcileOnce(withoutNode(machine), decideMachine, testNow);
  expect(after.machine.status?.currentStatus).toMatchObject({ preserveExpiryTime: newExpiry });
  expect(decision.because.map(({ reason }) => reason)).toContain("Preserved");
  expect(reconcileOnce(after, decideMachine, testNow).world.machine.status?.currentStatus?.preserveExpiryTime).toBe(
    newExpiry,
  );
});

it("lives with the sync of the node's template: neither undoes the other", () => {
  const nodeTemplate = { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } };
  const start = world(aMachineIn("Failed", M("now"), until(future), { spec: { nodeTemplate } }));
  const synced = untilAtRest(start, decideNodeSync, testNow).world;
  const { world: preserved } = settle(synced);
  expect(preserved.node?.spec?.taints?.map(({ key }) => key)).toEqual(["gpu", taintKeys.preserved]);
  expect(isAtRest(preserved, reconcileOnce(preserved, decideNodeSync, testNow).decision)).toBe(true);
});
