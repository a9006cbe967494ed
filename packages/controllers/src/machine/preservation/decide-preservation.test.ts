import { annotationKeys, type Machine, type MachinePhase, phaseOf, taintKeys } from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { Node, Pod } from "../../cluster/node-objects.ts";
import { aMachine, annotated, beingDeleted, type Change, inPhase } from "../../testing/builders.ts";
import { isAtRest, type LivingMachine, passOver, untilAtRest } from "../../testing/living-machine.ts";
import { aSnapshot, itsNode, kindsOf, later, testNow, withVm } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { decideNodeSync } from "../node-sync/decide-node-sync.ts";
import { decidePreservation, isPreservationDrainDue } from "./decide-preservation.ts";

const {
  preserve: P,
  lastAppliedNodePreserveValue: L,
  scaleDownDisabled,
  scaleDownDisabledByController,
} = annotationKeys;
const autoscaler = { [scaleDownDisabled]: "true", [scaleDownDisabledByController]: "true" };
/** Four days after testNow: what a preservation that begins now lasts. */
const newExpiry = "2026-01-05T00:10:00Z";
const future = "2026-01-03T00:00:00Z";
const past = "2026-01-01T00:09:59Z";
const taint = { key: taintKeys.preserved, effect: "NoSchedule", timeAdded: "2026-01-01T00:08:00Z" };
const foreignTaint = { key: "theirs", effect: "NoExecute" };
const readyConditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];
const lostConditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:08:00Z" }];
const condition = (status: string, message: string, reason = "Preserved by user.") => ({
  type: "Preserved",
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:08:00Z",
});
const plain = (expiry = future) => condition("True", `Machine preserved until ${expiry}.`);
const drained = (expiry = future) =>
  condition("True", `Preserved node drained successfully. Machine preserved until ${expiry}.`);
const notDrained = (expiry = future) =>
  condition("False", `Preserved node could not be drained. Machine preserved until ${expiry}.`);

const until = (preserveExpiryTime: string): Change<Machine> => ({ status: { currentStatus: { preserveExpiryTime } } });
const aMachineIn = (phase: MachinePhase, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(withVm, inPhase(phase, "2026-01-01T00:07:00Z"), ...changes);
interface NodeMarks {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly (typeof taint | typeof foreignTaint)[];
  readonly condition?: ReturnType<typeof condition>;
  readonly unschedulable?: boolean;
  readonly ready?: typeof readyConditions;
}
const aNodeWith = ({
  annotations = {},
  taints = [],
  unschedulable,
  ready = readyConditions,
  ...marks
}: NodeMarks = {}): Node =>
  itsNode({
    metadata: { annotations },
    spec: { taints, ...(unschedulable === undefined ? {} : { unschedulable }) },
    status: { conditions: [...ready, ...(marks.condition === undefined ? [] : [marks.condition])] },
  });
const aPod = (name: string, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "default", uid: name, ...metadata },
  spec: { nodeName: "node" },
});
const world = (machine: Machine, node: Node | undefined = aNodeWith(), ...pods: readonly Pod[]): LivingMachine => ({
  machine,
  node,
  pods,
});
const withoutNode = (machine: Machine): LivingMachine => ({ machine, node: undefined, pods: [] });
const settle = (start: LivingMachine, now = testNow) => untilAtRest(start, decidePreservation, now);
const once = (start: LivingMachine, now = testNow) => passOver(start, decidePreservation, now);

/** What can be seen of a preservation, in one line. */
function marksOf({ machine, node }: LivingMachine): Readonly<Record<string, unknown>> {
  const annotations = node?.metadata.annotations ?? {};
  const said = node?.status?.conditions?.find(({ type }) => type === "Preserved");
  return {
    E: machine.status?.currentStatus?.preserveExpiryTime,
    M: machine.metadata.annotations?.[P],
    L: machine.metadata.annotations?.[L],
    N: annotations[P],
    autoscaler: annotations[scaleDownDisabled],
    taint: node?.spec?.taints?.some(({ key }) => key === taintKeys.preserved),
    condition: said === undefined ? undefined : `${said.status} ${said.reason} ${said.message}`.trim(),
  };
}
const gone = { autoscaler: undefined, taint: false, condition: "False Preservation stopped." };
const kept = (expiry: string, by = "user") => ({
  E: expiry,
  autoscaler: "true",
  taint: false,
  condition: `True Preserved by ${by}. Machine preserved until ${expiry}.`,
});
const keptFailed = (expiry: string, by = "user") => ({
  ...kept(expiry, by),
  taint: true,
  condition: `True Preserved by ${by}. Preserved node drained successfully. Machine preserved until ${expiry}.`,
});
const N = (value: string) => ({ annotations: { [P]: value } });
const M = (value: string) => annotated({ [P]: value });

describe("what becomes of a machine (machine-controller.md, 10.10)", () => {
  const preservedNode = (marks: NodeMarks = {}): Node =>
    aNodeWith({ condition: plain(), ...marks, annotations: { ...autoscaler, ...marks.annotations } });
  const failedNode = (marks: NodeMarks = {}): Node =>
    preservedNode({ taints: [taint], condition: drained(), ...marks });

  it.each<[string, LivingMachine, Readonly<Record<string, unknown>>]>([
    ["nothing asks for it", world(aMachineIn("Running")), { E: undefined, taint: false }],
    ["nothing asks for it, nor for its Failed machine", world(aMachineIn("Failed")), { E: undefined, taint: false }],
    ["nothing asks for it, and there is no node", withoutNode(aMachineIn("Failed")), { E: undefined }],
    [
      "the node says now",
      world(aMachineIn("Running"), aNodeWith(N("now"))),
      { ...kept(newExpiry), N: "now", L: "now" },
    ],
    [
      "the node says when-failed and it runs",
      world(aMachineIn("Running"), aNodeWith(N("when-failed"))),
      { E: undefined, N: "when-failed", L: "when-failed", taint: false },
    ],
    [
      "the node says when-failed and it is Failed",
      world(aMachineIn("Failed"), aNodeWith(N("when-failed"))),
      { ...keptFailed(newExpiry), N: "when-failed", L: "when-failed" },
    ],
    [
      "the node says false now",
      world(aMachineIn("Running", until(future), annotated({ [L]: "now" })), preservedNode(N("false"))),
      { ...gone, E: undefined, N: "false", L: "false" },
    ],
    [
      "its set asks for it on its failure",
      world(aMachineIn("Failed", M("auto-preserved"))),
      { ...keptFailed(newExpiry, "MCM"), M: "auto-preserved" },
    ],
    [
      "it said now, and the time is over",
      world(aMachineIn("Running", M("now"), until(past)), preservedNode({ condition: plain(past) })),
      { ...gone, E: undefined, M: undefined },
    ],
    [
      "it said when-failed, is Failed, and the time is over",
      world(aMachineIn("Failed", M("when-failed"), until(past)), failedNode()),
      { ...gone, E: undefined, M: undefined },
    ],
    [
      "its set asked for it, and the time is over",
      world(aMachineIn("Failed", M("auto-preserved"), until(past)), failedNode()),
      { ...gone, E: undefined, M: undefined },
    ],
    [
      "the node said now, and the time is over",
      world(aMachineIn("Running", annotated({ [L]: "now" }), until(past)), preservedNode(N("now"))),
      { ...gone, E: undefined, N: undefined, L: undefined },
    ],
    [
      "it says something that means nothing",
      world(aMachineIn("Running", M("forever"))),
      { E: undefined, M: "forever", taint: false },
    ],
    [
      "the node says something that means nothing",
      world(aMachineIn("Running", M("now")), aNodeWith(N("forever"))),
      { E: undefined, M: "now", N: "forever", taint: false },
    ],
    [
      "the node says something that means nothing while it is preserved",
      world(aMachineIn("Running", until(past)), preservedNode(N("forever"))),
      { E: past, N: "forever", autoscaler: "true" },
    ],
    ["it says now and has no node", withoutNode(aMachineIn("Running", M("now"))), { E: newExpiry, M: "now" }],
    [
      "it said now, has no node, and the time is over",
      withoutNode(aMachineIn("Failed", M("now"), until(past))),
      { E: undefined, M: undefined },
    ],
    [
      "the node says when-failed, the machine now",
      world(aMachineIn("Failed", M("now")), aNodeWith(N("when-failed"))),
      { ...keptFailed(newExpiry), M: undefined, L: "when-failed" },
    ],
    [
      "the node took back its now, the machine says now",
      world(aMachineIn("Running", annotated({ [P]: "now", [L]: "now" }), until(future)), preservedNode()),
      { ...gone, E: undefined, M: undefined, L: undefined },
    ],
    // F34
    [
      "the node's value is empty now",
      world(aMachineIn("Running", annotated({ [L]: "now" }), until(future)), preservedNode(N(""))),
      { ...gone, E: undefined, N: "", L: undefined },
    ],
    [
      "it said when-failed and has recovered",
      world(aMachineIn("Running", M("when-failed"), until(future)), failedNode()),
      { ...gone, E: undefined, M: "when-failed" },
    ],
    [
      "its set asked for it and it has recovered",
      world(aMachineIn("Running", M("auto-preserved"), until(future)), failedNode()),
      { ...gone, E: undefined, M: undefined },
    ],
    [
      "its set asked for it and it had recovered before",
      world(aMachineIn("Running", M("auto-preserved"))),
      { E: undefined, M: undefined, taint: false },
    ],
    [
      "it said now and has recovered",
      world(aMachineIn("Running", M("now"), until(future)), failedNode()),
      kept(future),
    ],
    [
      "it said now and cannot be seen",
      world(aMachineIn("Unknown", M("now"), until(future)), failedNode()),
      { ...kept(future), taint: true },
    ],
    [
      "it says now, is Failed, and its node tainted",
      world(aMachineIn("Failed", M("now")), aNodeWith({ taints: [taint] })),
      keptFailed(newExpiry),
    ],
    [
      "it says when-failed, is Failed, and its node tainted",
      world(aMachineIn("Failed", M("when-failed")), aNodeWith({ taints: [taint] })),
      keptFailed(newExpiry),
    ],
    ["its annotation is gone", world(aMachineIn("Failed", until(future)), failedNode()), { ...gone, E: undefined }],
    ["another controller lost its expiry", world(aMachineIn("Running"), preservedNode()), { ...gone, E: undefined }],
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
      "someone else asks for it now",
      world(aMachineIn("Failed", M("auto-preserved"), until(future)), failedNode()),
      keptFailed(future, "MCM"),
    ],
    ["it has no status yet", world(aMachine(withVm)), { E: undefined }],
    [
      "it has no status yet, and its node is marked",
      world(aMachine(withVm), preservedNode()),
      { ...gone, E: undefined },
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

  it("asks nobody while the machine is deleted", () => {
    const start = world(aMachineIn("Failed", M("now"), beingDeleted()));
    expect(once(start).decision).toEqual({ actions: [], because: [] });
    expect(once(world(aMachineIn("Terminating", M("now")))).decision).toEqual({ actions: [], because: [] });
  });
});

describe("a preservation that begins", () => {
  it("stores its end first, and nothing else in that pass", () => {
    const { decision } = once(
      world(aMachineIn("Failed", M("now"), { spec: { machinePreserveTimeout: "1h" } }), aNodeWith(), aPod("a")),
    );
    expect(decision.actions).toEqual([]);
    expect(decision.status?.currentStatus).toEqual({
      phase: "Failed",
      // F23: the time of the phase stays.
      lastUpdateTime: "2026-01-01T00:07:00Z",
      preserveExpiryTime: "2026-01-01T01:10:00Z",
    });
    expect(decision.because).toEqual([
      {
        type: "Normal",
        reason: "Preserved",
        message: "Machine is preserved until 2026-01-01T01:10:00Z, as now asks for",
      },
    ]);
  });

  it("ends to the second, by a timer", () => {
    const preserved = settle(world(aMachineIn("Running", M("now"))));
    expect(preserved.decision.wakeAfterMs).toBe(96 * 3_600_000);
    const end = later(96 * 3_600_000);
    expect(once(preserved.world, new Date(end.getTime() - 1)).decision.wakeAfterMs).toBe(1);
    expect(marksOf(settle(preserved.world, end).world)).toMatchObject({ E: undefined, M: undefined });
    const bare = settle(withoutNode(aMachineIn("Running", M("now"))));
    expect(bare.decision.wakeAfterMs).toBe(96 * 3_600_000);
  });

  it("is not renewed by what is decided anew in the meantime", () => {
    const { world: preserved } = settle(world(aMachineIn("Running", M("now"))));
    expect(marksOf(settle(preserved, later(3_600_000)).world)).toMatchObject({ E: newExpiry });
  });

  it("marks the node in one patch that keeps the taints of others, for one version of the node", () => {
    const start = world(aMachineIn("Failed", M("now"), until(future)), aNodeWith({ taints: [foreignTaint] }));
    const { decision } = once(start);
    expect(decision.actions[0]).toEqual({
      kind: "PatchNode",
      name: "node",
      patch: {
        metadata: { annotations: autoscaler, resourceVersion: "7" },
        spec: {
          taints: [foreignTaint, { key: taintKeys.preserved, effect: "NoSchedule", timeAdded: "2026-01-01T00:10:00Z" }],
        },
      },
    });
  });

  it("marks also a node whose version nobody knows", () => {
    const node = { ...aNodeWith(), metadata: { name: "node" } };
    const [mark] = once(world(aMachineIn("Failed", M("now"), until(future)), node)).decision.actions;
    expect(JSON.stringify(mark)).not.toContain("resourceVersion");
    const bare: Node = { metadata: { name: "node" } };
    expect(kindsOf(once(world(aMachineIn("Failed", M("now"), until(future)), bare)).decision)).toEqual([
      "PatchNode",
      "PatchNodeStatus",
    ]);
  });

  it.each(["true", "false", ""])(
    "leaves the autoscaler's annotation alone that a user has set to %j, from beginning to end",
    (value) => {
      const node = aNodeWith({ annotations: { [scaleDownDisabled]: value } });
      const { world: preserved } = settle(world(aMachineIn("Running", M("now")), node));
      expect(preserved.node?.metadata.annotations).toEqual({ [scaleDownDisabled]: value });
      const { world: ended } = settle(preserved, later(96 * 3_600_000));
      expect(ended.node?.metadata.annotations).toEqual({ [scaleDownDisabled]: value });
    },
  );
});

describe("the drain of a Failed machine", () => {
  const failed = (...changes: readonly Change<Machine>[]): Machine =>
    aMachineIn("Failed", M("now"), until(future), ...changes);
  const tainted = (marks: NodeMarks = {}): Node =>
    aNodeWith({ annotations: autoscaler, taints: [taint], condition: plain(), ...marks });

  it("taints the node and evicts its pods without a cordon, and is over when they are gone", () => {
    const first = once(world(failed(), aNodeWith(), aPod("a")));
    expect(kindsOf(first.decision)).toEqual(["PatchNode", "EvictPod", "PatchNodeStatus"]);
    const { world: waiting } = settle(first.world);
    expect(marksOf(waiting)).toMatchObject({
      condition: `True Preserved by user. Machine preserved until ${future}.`,
      taint: true,
    });
    const { decision, world: end } = once({ ...waiting, pods: [] });
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    expect(decision.because).toEqual([
      { type: "Normal", reason: "PreservedNodeDrained", message: "Node node of the preserved machine is drained" },
    ]);
    expect(end.node?.spec?.unschedulable).toBeUndefined();
    expect(phaseOf(end.machine)).toBe("Failed");
  });

  it("believes a node to be empty only behind its taint (F45)", () => {
    const { world: marked } = once(world(failed()));
    expect(marksOf(marked)["condition"]).not.toContain("drained");
  });

  it("leaves mirror pods and pods of DaemonSets where they are", () => {
    const mirror = aPod("mirror", { annotations: { "kubernetes.io/config.mirror": "x" } });
    const { world: end } = settle(world(failed(), tainted(), mirror));
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    expect(end.pods).toHaveLength(1);
  });

  it.each<[string, Machine, Node, boolean]>([
    [
      "a node that has not been ready for five minutes",
      failed(),
      tainted({ ready: [{ type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T00:04:00Z" }] }),
      true,
    ],
    ["a node that has not been ready for two minutes", failed(), tainted({ ready: lostConditions }), false],
    [
      "a machine with the label force-drain",
      failed({ metadata: { labels: { "force-drain": "True" } } }),
      aNodeWith(),
      true,
    ],
    [
      "a machine whose drain timeout has passed since the taint",
      failed({ spec: { drainTimeout: "1m" } }),
      tainted(),
      true,
    ],
    [
      "a machine whose drain timeout has not passed since the taint",
      failed({ spec: { drainTimeout: "150s" } }),
      tainted(),
      false,
    ],
    [
      "a machine tainted by MCM, whose drain timeout has passed since its phase",
      failed({ spec: { drainTimeout: "150s" } }),
      tainted({ taints: [{ key: taintKeys.preserved, effect: "NoSchedule" }] as never }),
      true,
    ],
    [
      "a machine whose taint has no time that can be read",
      failed({ spec: { drainTimeout: "1s" } }),
      tainted({ taints: [{ ...taint, timeAdded: "once" }] }),
      false,
    ],
    // F23: neither the phase nor the expiry starts the drain, the taint does.
    [
      "a machine that has been Failed for long and is tainted now",
      failed({ spec: { drainTimeout: "1m" } }),
      aNodeWith(),
      false,
    ],
    [
      "a machine whose phase nobody dates",
      aMachineIn("Failed", M("now"), until(future), {
        spec: { drainTimeout: "1s" },
        status: { currentStatus: { lastUpdateTime: null } },
      }),
      tainted({ taints: [{ key: taintKeys.preserved, effect: "NoSchedule" }] as never }),
      false,
    ],
  ])("of %s is forced: see the table", (_, machine, node, isForced) => {
    const { decision, world: after } = once(world(machine, node, aPod("a")));
    expect(decision.actions.some(({ kind }) => kind === "DeletePod")).toBe(isForced);
    expect(marksOf(after)["condition"] === keptFailed(future).condition).toBe(isForced);
  });

  const late = "deletionTimestamp set, but still not removed from the Node although its grace period is over";

  it("says that it could not be done while pods do not end, tells so once, and goes on (F21)", () => {
    const stuck = ["a", "b", "c", "d"].map((name) => aPod(name, { deletionTimestamp: "2026-01-01T00:09:00Z" }));
    const start = world(failed(), tainted(), ...stuck, aPod("fresh", { deletionTimestamp: "2026-01-01T00:09:50Z" }));
    const { decision, world: failing } = once(start);
    expect(marksOf(failing)).toMatchObject({ condition: `False ${notDrained().reason} ${notDrained().message}` });
    expect(decision.because).toEqual([
      {
        type: "Warning",
        reason: "PreservedNodeNotDrained",
        message: `* Pods default/a, default/b, default/c and 1 more: ${late}`,
      },
    ]);
    // The fresh one is late twenty seconds from now.
    expect(decision.wakeAfterMs).toBe(20_001);
    const again = once(failing);
    expect(isAtRest(failing, again.decision)).toBe(true);
    expect(again.decision.because).toEqual([]);
    const { world: end } = settle({ ...failing, pods: [] });
    expect(marksOf(end)).toMatchObject(keptFailed(future));
    // Nothing is short of the drain's deadline.
    const { world: forced } = settle(failing, later(2 * 3_600_000));
    expect(forced.pods).toEqual([]);
  });

  it("names one pod alone", () => {
    const stuck: Pod = { metadata: { name: "a", deletionTimestamp: "2026-01-01T00:09:00Z" } };
    expect(once(world(failed(), tainted(), stuck)).decision.because[0]?.message).toBe(`* Pod /a: ${late}`);
  });

  it("is not gone through again for pods that come later, but for the next failure", () => {
    const { world: end } = settle(world(failed(), tainted()));
    expect(kindsOf(once({ ...end, pods: [aPod("late")] }).decision)).toEqual([]);
    const recovered = settle({
      ...end,
      machine: {
        ...end.machine,
        status: { ...end.machine.status, currentStatus: { phase: "Running", preserveExpiryTime: future } },
      },
    });
    expect(marksOf(recovered.world)).toMatchObject(kept(future));
    const failedAgain = once({
      ...recovered.world,
      machine: {
        ...recovered.world.machine,
        status: { currentStatus: { phase: "Failed", preserveExpiryTime: future } },
      },
      pods: [aPod("back")],
    });
    expect(kindsOf(failedAgain.decision)).toEqual(["PatchNode", "EvictPod"]);
  });

  it.each<[string, Machine, Node | undefined, boolean]>([
    ["Failed, wanted, not drained", aMachineIn("Failed", M("now")), aNodeWith(), true],
    ["Failed, wanted, drained", aMachineIn("Failed", M("now")), aNodeWith({ condition: drained() }), false],
    [
      "Failed, wanted, said to be drained before it stopped",
      aMachineIn("Failed", M("now")),
      aNodeWith({ condition: { ...drained(), status: "False" } }),
      true,
    ],
    ["Failed, not wanted", aMachineIn("Failed"), aNodeWith(), false],
    ["Running, wanted", aMachineIn("Running", M("now")), aNodeWith(), false],
  ])("looks at the pods of a machine that is %s", (_, machine, node, isDue) => {
    expect(isPreservationDrainDue(machine, node)).toBe(isDue);
  });
});

describe("a preservation that ends", () => {
  const preserved = (): LivingMachine =>
    world(
      aMachineIn("Failed", annotated({ [L]: "now" }), until(past)),
      aNodeWith({
        annotations: { ...autoscaler, [P]: "now", own: "x" },
        taints: [foreignTaint, taint],
        condition: drained(past),
        unschedulable: true,
      }),
      aPod("a"),
    );

  it("goes from the node over the machine to the expiry, in one pass", () => {
    const { decision, world: end } = once(preserved());
    expect(kindsOf(decision)).toEqual(["PatchNode", "PatchNodeStatus", "PatchMachine"]);
    expect(decision.because).toEqual([
      { type: "Normal", reason: "PreservationStopped", message: "Machine is not preserved any more: its time is over" },
    ]);
    expect(end.node?.metadata.annotations).toEqual({ own: "x" });
    expect(end.node?.spec).toMatchObject({ unschedulable: true, taints: [foreignTaint] });
    expect(end.machine.status?.currentStatus).toEqual({ phase: "Failed", lastUpdateTime: "2026-01-01T00:07:00Z" });
    expect(end.pods).toHaveLength(1);
  });

  it.each([0, 1, 2, 3])("is gone through again when the process dies after %i writes", (writes) => {
    const { world: halfway } = passOver(preserved(), decidePreservation, testNow, { writes });
    expect(halfway.machine.status?.currentStatus?.preserveExpiryTime).toBe(past);
    expect(marksOf(settle(halfway).world)).toEqual({ ...gone, E: undefined, M: undefined, L: undefined, N: undefined });
  });

  it.each<[string, boolean, boolean]>([
    ["its own annotation and the wish", true, true],
    ["its own annotation, not the wish", false, true],
    ["the wish, not a user's annotation", true, false],
    ["neither the wish nor a user's annotation", false, false],
  ])("removes %s", (_, forget, isOurs) => {
    const annotations = { [scaleDownDisabled]: "true", ...(isOurs ? autoscaler : {}), [P]: forget ? "now" : "false" };
    const start = world(
      aMachineIn("Running", annotated({ [L]: "now" }), until(forget ? past : future)),
      aNodeWith({ annotations, condition: plain() }),
    );
    expect(settle(start).world.node?.metadata.annotations).toEqual({
      ...(isOurs ? {} : { [scaleDownDisabled]: "true" }),
      ...(forget ? {} : { [P]: "false" }),
    });
  });
});

describe("what the machine remembers of its node", () => {
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
    ["nothing while the node says nothing", { [P]: "when-failed" }, {}, undefined],
    ["nothing new", { [L]: "false" }, { [P]: "false" }, undefined],
    ["what the node says", {}, { [P]: "when-failed" }, { [L]: "when-failed" }],
    ["what the node says instead of what it said", { [L]: "false" }, { [P]: "when-failed" }, { [L]: "when-failed" }],
    ["only what the node says", { [P]: "now", [L]: "false" }, { [P]: "false" }, { [P]: null }],
    ["what the node says, not what the machine said", { [P]: "now" }, { [P]: "false" }, { [P]: null, [L]: "false" }],
    ["that the node says nothing any more", { [L]: "false" }, {}, { [L]: null }],
    ["that neither says anything any more", { [P]: "now", [L]: "false" }, {}, { [P]: null, [L]: null }],
    ["an empty word as none", { [P]: "now" }, { [P]: "" }, { [P]: null }],
  ])("is %s", (_, machine, node, annotations) => {
    expect(syncOf(machine, node)).toEqual(
      annotations === undefined ? [] : [{ kind: "PatchMachine", patch: { metadata: { annotations } } }],
    );
  });
});

describe("a value that means nothing", () => {
  it("is told in one event, with the values that do", () => {
    const machine = aMachineIn("Running", M("forever"));
    const [reason] = decidePreservation(aSnapshot({ machine, node: aNodeWith() }), testNow).because;
    expect(reason).toMatchObject({ type: "Warning", reason: "InvalidPreserveValue" });
    const told = new Map([["InvalidPreserveValue", reason?.message ?? ""]]);
    expect(decidePreservation(aSnapshot({ machine, node: aNodeWith(), told }), testNow).because).toEqual([]);
    const onNode = decidePreservation(aSnapshot({ machine, node: aNodeWith(N("Now")), told }), testNow);
    expect(onNode).toMatchObject({ actions: [], because: [{ reason: "InvalidPreserveValue" }] });
    expect(onNode.because[0]?.message).toContain("now, when-failed, auto-preserved, false");
  });
});

it("begins for a machine that has no VM yet, too, when that is asked for, and goes on", () => {
  const machine = aMachine(M("now"), inPhase("CrashLoopBackOff"));
  const { decision, world: after } = passOver(withoutNode(machine), decideMachine, testNow);
  expect(after.machine.status?.currentStatus).toMatchObject({ preserveExpiryTime: newExpiry });
  expect(decision.because.map(({ reason }) => reason)).toContain("Preserved");
  expect(passOver(after, decideMachine, testNow).world.machine.status?.currentStatus?.preserveExpiryTime).toBe(
    newExpiry,
  );
});

it("lives with the sync of the node's template: neither undoes the other", () => {
  const nodeTemplate = { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } };
  const start = world(aMachineIn("Failed", M("now"), until(future), { spec: { nodeTemplate } }));
  const synced = untilAtRest(start, decideNodeSync, testNow).world;
  const { world: preserved } = settle(synced);
  expect(preserved.node?.spec?.taints?.map(({ key }) => key)).toEqual(["gpu", taintKeys.preserved]);
  expect(isAtRest(preserved, passOver(preserved, decideNodeSync, testNow).decision)).toBe(true);
});
