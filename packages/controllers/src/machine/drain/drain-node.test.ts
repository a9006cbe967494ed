import { describe, expect, it } from "vitest";
import type { Machine } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, aNode, type Change } from "../../testing/builders.ts";
import { aPod } from "../../testing/drain-objects.ts";
import { aDrainView } from "../../testing/drain-views.ts";
import { later, testNow } from "../../testing/snapshots.ts";
import { drainNode, drainTerms } from "./drain-node.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";

const MINUTE = 60_000;
const startedAt = testNow.getTime();
const snapshot = (...changes: readonly Change<Machine>[]) => ({
  machine: aMachine(...changes),
  settings: defaultMachineSettings,
  drainObservedSince: 0,
});
const since = (minutes: number) => ({ lastTransitionTime: later(-minutes * MINUTE).toISOString() });
const ready = { type: "Ready", status: "True", ...since(60) };
const nodeWith = (...conditions: NonNullable<NonNullable<Node["status"]>["conditions"]>): Node =>
  aNode({ spec: { unschedulable: true }, status: { conditions } });

describe("the drain of a node", () => {
  const readonly = (status: string, minutes: number) => ({ type: "ReadonlyFilesystem", status, ...since(minutes) });
  it.each<[string, Node, "force" | "normal"]>([
    ["whose kubelet has been silent for 6 min", nodeWith({ type: "Ready", status: "Unknown", ...since(6) }), "force"],
    ["that has not been ready for 6 min", nodeWith({ type: "Ready", status: "False", ...since(6) }), "force"],
    ["that has not been ready for 2 min", nodeWith({ type: "Ready", status: "False", ...since(2) }), "normal"],
    ["whose disk has been read-only for 6 min", nodeWith(ready, readonly("True", 6)), "force"],
    ["of whose disk nothing has been known for 6 min", nodeWith(ready, readonly("Unknown", 6)), "force"],
    ["whose disk has been read-only for 2 min", nodeWith(ready, readonly("True", 2)), "normal"],
    ["whose disk has been sound for 6 min", nodeWith(ready, readonly("False", 6)), "normal"],
    [
      "that is both for 6 min",
      nodeWith({ type: "Ready", status: "Unknown", ...since(6) }, readonly("True", 6)),
      "force",
    ],
    [
      "that is one for 2 min, the other for 6 min",
      nodeWith({ type: "Ready", status: "Unknown", ...since(2) }, readonly("True", 6)),
      "force",
    ],
    ["for exactly 5 min", nodeWith({ type: "Ready", status: "Unknown", ...since(5) }), "normal"],
    ["without transition times", nodeWith(), "normal"],
  ])("%s has the mode it should", (_, node, mode) => {
    const drain = { startedAt, isDemanded: false, cordon: true };
    expect(drainTerms(snapshot(), node, drain, testNow).mode).toBe(mode);
    expect(drainTerms(snapshot(), node, { ...drain, isDemanded: true }, testNow).mode).toBe("force");
  });

  it("has by how much the clock of its cluster is ahead", () => {
    const drain = { startedAt, isDemanded: false, cordon: true };
    const ahead = { ...snapshot(), link: { clockAheadMs: 60 * MINUTE } };
    expect(drainTerms(ahead, nodeWith(ready), drain, testNow).clockAheadMs).toBe(60 * MINUTE);
  });

  it("is forced when the node fails meanwhile, by its current conditions and not by the machine's", () => {
    const healthy = snapshot({ status: { conditions: [{ type: "Ready", status: "True" }] } });
    const view = aDrainView({ node: nodeWith(ready, readonly("True", 4)), pods: [aPod("a")] });
    const drain = { view, startedAt, isDemanded: false, cordon: true };
    const first = drainNode(healthy, drain, testNow);
    expect(first).toMatchObject({ state: "draining", requeueAfterMs: MINUTE + 1 });
    expect(drainNode(healthy, drain, later(MINUTE + 1))).toMatchObject({ state: "drained", isForced: true });
  });

  it.each<[string, Change<Machine>, boolean, number]>([
    ["it has been unreachable for too long", {}, false, 6],
    ["the drain timeout has passed", { spec: { drainTimeout: "1s" } }, false, 2],
    ["a user requests it", {}, true, 2],
  ])(
    "deletes nothing of an unreachable node by force while its VM may be running, when %s",
    (_, change, isDemanded, minutes) => {
      const node = nodeWith({ type: "Ready", status: "Unknown", ...since(minutes) });
      const going = aPod("going", { metadata: { deletionTimestamp: later(-6 * MINUTE).toISOString() } });
      const view = aDrainView({ node, pods: [aPod("a"), going] });
      const drain = { view, startedAt, isDemanded, cordon: true };
      const progress = drainNode(snapshot(change), drain, later(2_000));
      expect(progress).toMatchObject({
        state: "draining",
        blockers: [{ kind: "unreachable" }, { kind: "unreachable" }],
      });
      expect(progress.actions.filter((action) => action.kind === "DeletePod" && action.atOnce)).toEqual([]);
      expect("message" in progress && progress.message).toContain(
        "* Pods default/a, default/going: the Node is unreachable, nothing on it is deleted by force while its VM may be running",
      );
      // It goes on as soon as the kubelet is back, or the pods have left.
      const empty = aDrainView({ node, pods: [] });
      expect(drainNode(snapshot(change), { ...drain, view: empty }, later(2_000))).toMatchObject({
        state: "drained",
        isForced: false,
      });
    },
  );

  it("is not forced in the minute after a pause, although the node became unusable meanwhile", () => {
    const view = aDrainView({ node: nodeWith(ready, readonly("True", 6)), pods: [aPod("a")] });
    const drain = { view, startedAt: later(-30 * MINUTE).getTime(), isDemanded: false, cordon: true };
    const resumed = { ...snapshot(), drainObservedSince: undefined };
    expect(drainNode(resumed, drain, testNow)).toMatchObject({ state: "draining", requeueAfterMs: MINUTE + 1 });
    const followed = { ...resumed, drainObservedSince: startedAt };
    expect(drainNode(followed, drain, later(MINUTE))).toMatchObject({ state: "draining" });
    expect(drainNode(followed, drain, later(MINUTE + 1))).toMatchObject({ state: "drained", isForced: true });
    // A user may force it at once.
    expect(drainNode(resumed, { ...drain, isDemanded: true }, testNow)).toMatchObject({ isForced: true });
  });

  it("records the time that counts every five minutes, and removes the record at its end", () => {
    const view = aDrainView({ node: nodeWith(ready), pods: [aPod("a")] });
    const drain = { view, startedAt, isDemanded: false, cordon: true };
    const due = drainNode(snapshot(), drain, later(5 * MINUTE));
    const clock = {
      startedAt: testNow.toISOString(),
      countedUntil: later(5 * MINUTE).toISOString(),
      countedMs: 5 * MINUTE,
    };
    expect(due.actions[0]).toEqual({ kind: "RecordDrain", record: { moves: [], clock } });
    const record = { moves: [], clock };
    const machine = snapshot({
      metadata: { annotations: { "machine.millwright.dev/drain-state": JSON.stringify(record) } },
    });
    const next = drainNode(machine, { ...drain, view: { ...view, record } }, later(6 * MINUTE));
    expect(next.actions.map(({ kind }) => kind)).toEqual(["EvictPod"]);
    const ended = drainNode(machine, { ...drain, view: { ...view, record, pods: [] } }, later(6 * MINUTE));
    expect(ended).toMatchObject({ state: "drained", actions: [{ kind: "RecordDrain", record: { moves: [] } }] });
  });

  it.each<[string, Change<Machine>, number, number]>([
    ["the settings", {}, 120, 120],
    ["as many attempts of 20 s as the machine sets", { spec: { maxEvictRetries: 30 } }, 10, 120],
    ["no attempts at all, which is at once", { spec: { maxEvictRetries: 0 } }, 0, 120],
    ["no longer than the drain may take", { spec: { maxEvictRetries: 360, drainTimeout: "5m" } }, 5, 5],
    ["a timeout shorter than one attempt", { spec: { drainTimeout: "15s" } }, 0.25, 0.25],
  ])("respects budgets for %s", (_, change, evicting, ending) => {
    const terms = drainTerms(snapshot(change), aNode(), { startedAt, isDemanded: false, cordon: true }, testNow);
    expect(terms).toMatchObject({
      evictUntil: later(evicting * MINUTE).getTime(),
      deadline: later(ending * MINUTE).getTime(),
    });
  });

  it("without attempts deletes its pods, with their grace period", () => {
    const view = aDrainView({ pods: [aPod("a")] });
    const { actions } = drainNode(
      snapshot({ spec: { maxEvictRetries: 0 } }),
      { view, startedAt, isDemanded: false, cordon: true },
      testNow,
    );
    expect(actions).toEqual([{ kind: "DeletePod", atOnce: false, namespace: "default", name: "a", uid: "uid-a" }]);
  });
});
