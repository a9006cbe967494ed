import { describe, expect, it } from "vitest";
import type { DrainRule } from "@millwright/core/machine-api";
import type { Pod } from "../model/node-objects.ts";
import { aNode } from "../testing/builders.ts";
import { aBudget, aPod, aPodWithVolume } from "../testing/drain-objects.ts";
import { aDrainView, aMove, drainTerms } from "../testing/drain-views.ts";
import { later, testNow } from "../testing/snapshots.ts";
import { evicted, inGrace, linesOf, rejected, requeueAfter } from "../testing/drain-lines.ts";
import type { EvictionView } from "@millwright/kube";
import { decideDrain } from "./decide-drain.ts";

const MINUTE = 60_000;
const mirror = { metadata: { annotations: { "kubernetes.io/config.mirror": "" } } };

describe("a node", () => {
  const open = aNode();

  it("is cordoned first, by one field, and its pods are evicted in the same reconcile", () => {
    expect(linesOf({ node: open, pods: [aPod("a")] })).toEqual([
      'PatchNode {"spec":{"unschedulable":true}}',
      "EvictPod a",
      "leaving a",
    ]);
  });

  it("that is cordoned is not changed", () => {
    expect(linesOf({ pods: [aPod("a")] })).toEqual(["EvictPod a", "leaving a"]);
  });

  it("that keeps its place is not cordoned", () => {
    expect(linesOf({ node: open }, { cordon: false })).toEqual(["drained"]);
  });

  it("is empty only when it was empty after its cordon", () => {
    expect(linesOf({ node: open })).toEqual(['PatchNode {"spec":{"unschedulable":true}}', ""]);
    expect(requeueAfter({ node: open })).toBe(5_000);
    expect(linesOf({})).toEqual(["drained"]);
  });

  it("is empty only when its pods are known to be newer than the cordon; otherwise they are read", () => {
    const view = { knownPods: "unconfirmed" } as const;
    expect(linesOf(view)).toEqual(["ReadPods node", ""]);
    expect(requeueAfter(view)).toBe(5_000);
    // Its own pods are evicted first, so that there is one read at the end.
    expect(linesOf({ ...view, pods: [aPod("a")] })).toEqual(["EvictPod a", "leaving a"]);
    expect(linesOf({ ...view, node: open })).toEqual(['PatchNode {"spec":{"unschedulable":true}}', ""]);
    expect(linesOf({ ...view, node: open }, { cordon: false })).toEqual(["drained"]);
    expect(linesOf(view, {}, later(120 * MINUTE + 1))).toEqual(["forced"]);
  });

  it("is not regarded as empty while the cache of pods is disconnected, and nothing is read", () => {
    const view = aDrainView({ knownPods: "disconnected" });
    expect(decideDrain(view, drainTerms(), testNow)).toMatchObject({
      state: "draining",
      actions: [],
      message:
        "Drain not completed yet (started at 2026-01-01T00:10:00Z):\n* Cannot read the pods of the Node: the API server is unreachable",
    });
  });

  it("is empty although pods stay that are none of a drain's business", () => {
    expect(linesOf({ pods: [aPod("m", mirror), aPod("c", { status: { phase: "Succeeded" } })] })).toEqual(["drained"]);
  });
});

describe("pods without volumes", () => {
  it("are evicted all at once", () => {
    expect(linesOf({ pods: [aPod("b"), aPod("a")] })).toEqual(["EvictPod a", "EvictPod b", "leaving a, leaving b"]);
  });

  it("are not evicted twice", () => {
    const pods = [aPod("a"), aPod("b", inGrace), aPod("c")];
    const evictions = new Map<string, EvictionView>([...evicted("a"), ["uid-c", { state: "queued" }]]);
    expect(linesOf({ pods, evictions })).toEqual(["leaving a, leaving c, leaving b"]);
  });

  it("are evicted as their budget allows, without evictions that must fail", () => {
    const pods = ["a", "b", "c"].map((name) => aPod(name));
    expect(linesOf({ pods, budgets: [aBudget()] })).toEqual(["EvictPod a", "leaving a, budget b, budget c"]);
  });

  it("wait for the retry after an error, and not longer", () => {
    const view = { pods: [aPod("a")], evictions: rejected("a") };
    expect(linesOf(view)).toEqual(["rejected a"]);
    expect(requeueAfter(view)).toBe(5_000);
    expect(linesOf(view, {}, later(5_000))).toEqual(["EvictPod a", "leaving a"]);
  });

  it("are reported with their budget while that rejects, and evicted again when it allows disruptions", () => {
    const view = { pods: [aPod("a")], evictions: rejected("a", { isBudget: true }) };
    const full = aBudget({ status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 } });
    expect(linesOf({ ...view, budgets: [full] }, {}, later(6_000))).toEqual(["budget a"]);
    // The API server saw more than the cache did: it is the budget all the same.
    expect(linesOf({ ...view, budgets: [aBudget()] })).toEqual(["budget a"]);
    expect(linesOf({ ...view, budgets: [aBudget()] }, {}, later(6_000))).toEqual(["EvictPod a", "leaving a"]);
  });

  it("are deleted in order when the time for evictions is over", () => {
    const impossible = aBudget({ spec: { maxUnavailable: 0 }, status: { disruptionsAllowed: 0 } });
    const view = { pods: [aPod("a")], budgets: [impossible] };
    expect(linesOf(view, {}, later(60 * MINUTE - 1))).toEqual(["budget a"]);
    expect(requeueAfter(view)).toBe(60 * MINUTE);
    expect(linesOf(view, {}, later(60 * MINUTE))).toEqual(["DeletePod a", "leaving a"]);
    expect(linesOf(view, { evictUntil: testNow.getTime() })).toEqual(["DeletePod a", "leaving a"]);
    const evictions = rejected("a", { isBudget: true, retryAt: later(61 * MINUTE).getTime() });
    expect(linesOf({ ...view, evictions }, {}, later(60 * MINUTE))).toEqual(["DeletePod a", "leaving a"]);
  });

  it("that are created on the cordoned node are reported, and evicted slowly", () => {
    const view = { pods: [aPod("a", { metadata: { creationTimestamp: later(1_000).toISOString() } })] };
    expect(linesOf(view, {}, later(2_000))).toEqual(["returning a"]);
    expect(requeueAfter(view, {}, later(2_000))).toBe(29_000);
    expect(linesOf(view, {}, later(31_000))).toEqual(["EvictPod a", "leaving a"]);
  });

  it("that are recreated within the second of the deletion are evicted once more, as any pod that was there: times have no fractions, and budgets hold for it, too", () => {
    const at = (ms: number) => ({
      pods: [aPod("a", { metadata: { uid: `uid-${ms}`, creationTimestamp: later(ms).toISOString() } })],
    });
    expect(linesOf(at(0), {}, later(300))).toEqual(["EvictPod a", "leaving a"]);
    const spent = aBudget({ status: { disruptionsAllowed: 0, currentHealthy: 1 } });
    expect(linesOf({ ...at(0), budgets: [spent] }, {}, later(600))).toEqual(["budget a"]);
    // A pod that is recreated later is evicted twice a minute at most.
    expect(linesOf(at(1_000), {}, later(1_000))).toEqual(["returning a"]);
    expect(linesOf(at(1_000), {}, later(30_999))).toEqual(["returning a"]);
  });

  it("are waited for when they are overdue, with their finalizers", () => {
    const metadata = { deletionTimestamp: later(-40_000).toISOString() };
    expect(linesOf({ pods: [aPod("a", { metadata })] })).toEqual(["overdue a"]);
    const held = aPod("a", { metadata: { ...metadata, finalizers: ["x/y"] } });
    expect(decideDrain(aDrainView({ pods: [held] }), drainTerms(), testNow)).toMatchObject({
      message: expect.stringContaining("finalizers x/y"),
    });
  });
});

describe("the order of rules", () => {
  const rules: readonly DrainRule[] = [
    { selector: { matchLabels: { app: "first" } }, behavior: "Drain", order: -1 },
    { selector: { matchLabels: { app: "job" } }, behavior: "WaitCompleted", order: 1 },
  ];
  const pods = [
    aPod("b"),
    aPod("a", { metadata: { labels: { app: "first" } } }),
    aPod("j", { metadata: { labels: { app: "job" } } }),
  ];

  it("holds pods back until those of a lower order have left", () => {
    expect(linesOf({ pods, rules })).toEqual(["EvictPod a", "order b, leaving a, completion j"]);
    expect(linesOf({ pods: pods.filter(({ metadata }) => metadata.name !== "a"), rules })).toEqual([
      "EvictPod b",
      "leaving b, completion j",
    ]);
  });

  it("waits for what has to complete", () => {
    expect(linesOf({ pods: pods.slice(2), rules })).toEqual(["completion j"]);
  });

  it("counts for nothing when the drain is forced", () => {
    expect(linesOf({ pods, rules }, { mode: "force" })).toEqual([
      "DeletePod at once a",
      "DeletePod at once b",
      "DeletePod at once j",
      "forced",
    ]);
  });
});

describe("a pod with missing fields", () => {
  it("is evicted nevertheless", () => {
    const bare: Pod = { metadata: { name: "bare" } };
    expect(linesOf({ pods: [bare], record: { moves: [aMove("db")] } })).toEqual([
      "RecordDrain default/db away",
      "EvictPod bare",
      "reattaching db, leaving /bare",
    ]);
  });

  it("and has completed is waited for silently until it is deleted, because of its volume", () => {
    const over = aPodWithVolume("db", { metadata: { ...inGrace.metadata }, status: { phase: "Succeeded" } });
    const progress = decideDrain(aDrainView({ pods: [over], record: { moves: [aMove("db")] } }), drainTerms(), testNow);
    expect(progress).toMatchObject({ state: "draining", blockers: [] });
    expect(progress).not.toHaveProperty("message");
  });
});

describe("the end of a drain", () => {
  it("deletes what is left after the deadline, and not before", () => {
    const view = { pods: [aPod("a"), aPod("b", inGrace), aPod("m", mirror)], record: { moves: [aMove("x")] } };
    expect(linesOf(view, {}, later(120 * MINUTE)).at(-1)).not.toBe("forced");
    expect(linesOf(view, {}, later(120 * MINUTE + 1))).toEqual([
      "RecordDrain ",
      "DeletePod at once a",
      "DeletePod at once b",
      "forced",
    ]);
  });

  it("is immediate when it is forced, with a cordon", () => {
    expect(linesOf({ node: aNode() }, { mode: "force" })).toEqual([
      'PatchNode {"spec":{"unschedulable":true}}',
      "forced",
    ]);
  });

  it("is awaited in any case", () => {
    const view = { pods: [aPod("a", inGrace)] };
    expect(requeueAfter(view, {}, later(60 * MINUTE))).toBe(60 * MINUTE + 1);
  });
});
