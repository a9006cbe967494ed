import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aNode } from "../testing/builders.ts";
import { evicted, linesOf } from "../testing/drain-lines.ts";
import { aPod } from "../testing/drain-objects.ts";
import { later, testNow } from "../testing/snapshots.ts";
import { cordonOf } from "./cordon.ts";

const SECOND = 1_000;
const startedAt = testNow.getTime();
/** A node that was cordoned so long after the start of its drain. */
const cordonedAfter = (ms: number) =>
  aNode({
    spec: {
      unschedulable: true,
      taints: [
        {
          key: "node.kubernetes.io/unschedulable",
          effect: "NoSchedule",
          timeAdded: new Date(startedAt + ms).toISOString(),
        },
      ],
    },
  });

const cordonedNode = aNode({ spec: { unschedulable: true } });

describe("the cordon of a drain", () => {
  it.each([
    ["is as old as the taint of Kubernetes", cordonedAfter(5 * SECOND), startedAt + 5 * SECOND],
    ["that is older than the drain counts from its start", cordonedAfter(-3_600 * SECOND), startedAt],
    ["without a taint counts from the start", aNode({ spec: { unschedulable: true } }), startedAt],
    [
      "without a time counts from the start",
      aNode({ spec: { taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] } }),
      startedAt,
    ],
  ])("%s", (_, node, since) => {
    expect(cordonOf(node, { cordon: true, startedAt })).toEqual({ taint: "node.kubernetes.io/unschedulable", since });
  });

  it("counts from its start by the clock of the node's cluster, which is an hour ahead or behind", () => {
    const since = (node: typeof cordonedNode, hours: number) =>
      cordonOf(node, { cordon: true, startedAt, clockAheadMs: hours * 3_600 * SECOND })?.since;
    expect(since(cordonedNode, 1)).toBe(startedAt + 3_600 * SECOND);
    expect(since(cordonedNode, -1)).toBe(startedAt - 3_600 * SECOND);
    // That of the taint is of that clock already.
    expect(since(cordonedAfter(3_605 * SECOND), 1)).toBe(startedAt + 3_605 * SECOND);
    expect(since(cordonedAfter(-3_595 * SECOND), -1)).toBe(startedAt - 3_595 * SECOND);
    const taints = [{ key: "node.machine.sapcloud.io/preserved", effect: "NoSchedule" }] as const;
    const preserved = { cordon: false, startedAt, clockAheadMs: 3_600 * SECOND };
    expect(cordonOf(aNode({ spec: { taints } }), preserved)?.since).toBe(startedAt);
  });

  it("is the taint of the preservation for a node that is not cordoned", () => {
    const taints = [{ key: "node.machine.sapcloud.io/preserved", effect: "NoSchedule" }] as const;
    expect(cordonOf(aNode({ spec: { taints } }), { cordon: false, startedAt })).toEqual({
      taint: "node.machine.sapcloud.io/preserved",
      since: startedAt,
    });
  });

  it("does not exist before it is written", () => {
    expect(cordonOf(aNode(), { cordon: true, startedAt })).toBeUndefined();
    expect(cordonOf(cordonedNode, { cordon: false, startedAt })).toBeUndefined();
  });
});

/** A pod of a Deployment that tolerates everything. */
const tolerant = (createdAt: number, uid = "uid-operator") =>
  aPod("operator", {
    metadata: { uid, creationTimestamp: new Date(Math.floor(createdAt / SECOND) * SECOND).toISOString() },
    spec: { tolerations: [{ operator: "Exists" }] },
  });

describe("a pod that tolerates the cordon", () => {
  it("is evicted when it was there before, stays when it was created afterwards, and does not delay the drain", () => {
    const node = cordonedAfter(2 * SECOND);
    const at = (ms: number) => ({ node, pods: [tolerant(startedAt + ms)] });
    expect(linesOf(at(-60 * SECOND))).toEqual(["EvictPod operator", "leaving operator"]);
    expect(linesOf(at(SECOND))).toEqual(["EvictPod operator", "leaving operator"]);
    expect(linesOf(at(2 * SECOND))).toEqual(["drained"]);
    expect(linesOf({ node, pods: [...at(3 * SECOND).pods, aPod("a")] })).toEqual(["EvictPod a", "leaving a"]);
  });

  it("is evicted before the cordon, and then has its grace period", () => {
    const pods = [tolerant(startedAt + 3 * SECOND)];
    expect(linesOf({ node: aNode(), pods }).slice(1)).toEqual(["EvictPod operator", "leaving operator"]);
    expect(linesOf({ node: cordonedNode, pods })).toEqual(["drained"]);
    expect(linesOf({ node: cordonedNode, pods, evictions: evicted("operator") })).toEqual(["leaving operator"]);
    const terminating = pods.map(({ metadata, ...pod }) => ({
      ...pod,
      metadata: { ...metadata, deletionTimestamp: later(30 * SECOND).toISOString() },
    }));
    expect(linesOf({ node: cordonedNode, pods: terminating })).toEqual(["leaving operator"]);
  });

  it("is evicted at most twice, however fast its controller recreates it, and whenever Kubernetes adds the taint", () => {
    const delays = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 40 * SECOND })), {
      minLength: 6,
      maxLength: 6,
    });
    fc.assert(
      fc.property(delays, fc.integer({ min: 0, max: 999 }), fc.integer({ min: -1, max: 900 }), (all, offset, lag) => {
        const cordonedMs = startedAt + offset;
        const tainted = Math.floor((cordonedMs + lag) / SECOND) * SECOND - startedAt;
        const nodeAt = (ms: number) => {
          if (lag < 0) return cordonedAfter(-60 * SECOND);
          return ms < cordonedMs + lag ? cordonedNode : cordonedAfter(tainted);
        };
        let nowMs = cordonedMs;
        let createdAt = startedAt - 60 * SECOND;
        let evictions = 0;
        for (const [index, delay] of all.entries()) {
          const view = { node: nodeAt(nowMs), pods: [tolerant(createdAt, `uid-${index}`)] };
          const [first] = linesOf(view, {}, new Date(nowMs));
          if (first === "drained") break;
          if (first === "EvictPod operator") evictions++;
          nowMs += 1 + delay;
          createdAt = nowMs;
        }
        expect(evictions).toBeLessThanOrEqual(2);
      }),
    );
  });
});
