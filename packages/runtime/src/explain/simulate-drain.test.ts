import type { DrainTerms, DrainView } from "@millwright/controllers/reports";
import {
  aBudget,
  aDrainView,
  aMove,
  aNode,
  aPod,
  aPodWithVolume,
  drainTerms,
  testNow,
  volumePlaces,
  volumesFor,
} from "@millwright/controllers/testing";
import { describe, expect, it } from "vitest";
import { type DrainPreview, simulateDrain } from "./simulate-drain.ts";

const simulate = (view: Partial<DrainView>, terms: Partial<DrainTerms> = {}): DrainPreview =>
  simulateDrain(aDrainView(view), drainTerms(terms), testNow);
const stepsOf = ({ steps }: DrainPreview): readonly string[] =>
  steps.map(({ how, pods, at }) => `${how} ${pods.join(" ")}${at === undefined ? "" : ` at ${at}`}`);
const after = (ms: number): string => new Date(testNow.getTime() + ms).toISOString();
const HOUR = 3_600_000;
const noRoom = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 };

describe("simulateDrain", () => {
  it("has nothing to do on an empty node, cordoned or not", () => {
    for (const node of [aNode(), aNode({ spec: { unschedulable: true } })])
      expect(simulate({ node })).toEqual({ outcome: "completes", pods: [], steps: [], blockedBy: [], because: [] });
  });

  it("evicts pods without volumes at once, and those with volumes one after another, by priority", () => {
    const pods = [
      aPod("a"),
      aPod("b"),
      aPodWithVolume("db-0"),
      aPodWithVolume("db-1", {
        spec: { priority: 5, volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } }] },
      }),
    ];
    const preview = simulate({
      pods,
      volumes: volumesFor("db-0", "db-1"),
      attached: volumePlaces({ attachedHere: ["pv-db-0", "pv-db-1"] }),
    });
    expect(stepsOf(preview)).toEqual(["evict default/a default/b default/db-1", "evict default/db-0"]);
    expect(preview.outcome).toBe("completes");
    expect(preview.pods.find(({ name }) => name === "db-0")?.volumes).toMatchObject([
      { name: "pv-db-0", claim: "default/data-db-0", isAttachedHere: true },
    ]);
  });

  it("evicts no more at once than the budget allows", () => {
    const preview = simulate({ pods: [aPod("a"), aPod("b")], budgets: [aBudget()] });
    expect(stepsOf(preview)).toEqual(["evict default/a", "evict default/b"]);
  });

  it("expects unready pods to become ready, but reports that they are waited for", () => {
    const budgets = [aBudget({ status: { disruptionsAllowed: 0, currentHealthy: 1, expectedPods: 2 } })];
    const preview = simulate({ pods: [aPod("a")], budgets });
    expect(preview.outcome).toBe("completes");
    expect(stepsOf(preview)).toEqual(["evict default/a"]);
    expect(preview.pods[0]?.budget).toMatchObject({ state: "waiting", message: expect.stringContaining("1 more") });
  });

  it.each([
    ["can never be met", [aBudget({ status: noRoom })], "default/web can never be met"],
    ["is one of two", [aBudget(), aBudget({ metadata: { name: "second" } })], "default/second and default/web"],
  ])("is blocked by a budget that %s, until pods are deleted past it", (_, budgets, text) => {
    const preview = simulate({ pods: [aPod("a"), aPod("other", { metadata: { labels: {} } })], budgets });
    expect(preview.outcome).toBe("blocked");
    expect(stepsOf(preview)).toEqual(["evict default/other", `delete default/a at ${after(HOUR)}`]);
    expect(preview.blockedBy).toMatchObject([{ kind: "budget", pod: "default/a" }]);
    expect(preview.because.join()).toContain(text);
  });

  it("names a budget that a later order would meet, too", () => {
    const rules = [{ behavior: "Drain", order: 1, selector: { matchLabels: { app: "late" } } }] as const;
    const late = aPod("late", { metadata: { labels: { app: "late" } } });
    const budgets = [
      aBudget({ status: noRoom }),
      aBudget({ metadata: { name: "late" }, spec: { selector: { matchLabels: { app: "late" } } }, status: noRoom }),
    ];
    const preview = simulate({ pods: [aPod("a"), late], rules, budgets });
    expect(preview.blockedBy.map(({ pod }) => pod)).toEqual(["default/a", "default/late"]);
  });

  it("finds that a budget allows nothing once pods without a controller are deleted", () => {
    const alone = (name: string) => aPod(name, { metadata: { ownerReferences: [] } });
    const budgets = [
      aBudget({ status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 } }),
    ];
    const preview = simulate({ pods: [alone("a"), alone("b")], budgets });
    expect(stepsOf(preview)).toEqual(["evict default/a", `delete default/b at ${after(HOUR)}`]);
    expect(preview.outcome).toBe("blocked");
  });

  it("waits for pods that are ending and for jobs, and is blocked by what a finalizer holds", () => {
    const ending = aPod("ending", { metadata: { deletionTimestamp: after(1_000) } });
    const job = aPod("job", { metadata: { labels: { "cluster.x-k8s.io/drain": "wait-completed" } } });
    expect(simulate({ pods: [ending, job] })).toMatchObject({ outcome: "completes", steps: [] });
    const held = aPod("held", { metadata: { deletionTimestamp: after(-HOUR), finalizers: ["example.com/hold"] } });
    const preview = simulate({ pods: [held] });
    expect(preview.outcome).toBe("blocked");
    expect(stepsOf(preview)).toEqual([`kill default/held at ${after(2 * HOUR + 1)}`]);
    expect(preview.because.join()).toContain("example.com/hold");
  });

  it("leaves alone what a drain leaves alone, with the reason", () => {
    const kinds = (kind: string) => [{ apiVersion: "apps/v1", kind, name: kind, uid: kind, controller: true }];
    const preview = simulate({
      pods: [
        aPod("agent", { metadata: { ownerReferences: kinds("DaemonSet") } }),
        aPod("mirror", { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } }),
      ],
    });
    expect(preview.pods.map(({ verdict }) => verdict)).toEqual([
      { behavior: "skip", reason: "DaemonSet" },
      { behavior: "skip", reason: "mirror" },
    ]);
    expect(preview).toMatchObject({ outcome: "completes", steps: [] });
  });

  it("continues with the volumes of a pod that an earlier reconcile evicted", () => {
    const record = { moves: [aMove("gone")] };
    const attached = volumePlaces({ attachedHere: ["pv-gone"] });
    expect(simulate({ record, attached })).toMatchObject({ outcome: "completes", steps: [], blockedBy: [] });
  });

  it("evicts a recreated pod after a pause", () => {
    const pods = [aPod("back", { metadata: { creationTimestamp: after(1_000) } })];
    expect(stepsOf(simulate({ pods }))).toEqual([`evict default/back at ${after(31_000)}`]);
  });

  it.each([
    ["on demand", { mode: "force" as const }],
    ["after the deadline", { deadline: testNow.getTime() - 1 }],
  ])("evicts nothing when it is forced %s", (_, terms) => {
    const preview = simulate({ pods: [aPod("a")], budgets: [aBudget({ status: noRoom })] }, terms);
    expect(preview).toMatchObject({ outcome: "forced", blockedBy: [] });
    expect(stepsOf(preview)).toEqual(["kill default/a"]);
  });

  it("ignores budgets when the time for evictions is over", () => {
    const budgets = [aBudget({ status: noRoom })];
    const preview = simulate({ pods: [aPod("a")], budgets }, { evictUntil: testNow.getTime() - 1 });
    expect(preview.outcome).toBe("completes");
    expect(stepsOf(preview)).toEqual(["delete default/a"]);
  });
});
