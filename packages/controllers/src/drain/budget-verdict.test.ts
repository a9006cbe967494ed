import { describe, expect, it } from "vitest";
import type { Budget, Pod } from "../model/node-objects.ts";
import { aBudget, aPod } from "../testing/drain-objects.ts";
import { judgeBudgets } from "./budget-verdict.ts";

const none = { disruptionsAllowed: 0 };
const busy = aBudget({ status: { ...none, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3 } });
const unready: Pod["status"] = { phase: "Running", conditions: [{ type: "Ready", status: "False" }] };

const textOf = (pod: Pod, ...budgets: readonly Budget[]): string => {
  const verdict = judgeBudgets(pod, budgets);
  return verdict.state === "free" ? "free" : `${verdict.state}: ${verdict.message}`;
};

describe("judgeBudgets", () => {
  it.each([
    ["no budget", aPod(), []],
    ["a budget with room", aPod(), [aBudget()]],
    ["a budget of another namespace", aPod(), [aBudget({ metadata: { namespace: "other" }, status: none })]],
    [
      "a budget for other pods",
      aPod(),
      [aBudget({ spec: { selector: { matchLabels: { app: "db" } } }, status: none })],
    ],
    [
      "a budget whose status is of an older generation",
      aPod(),
      [aBudget({ metadata: { generation: 2 }, status: none })],
    ],
    [
      "a budget for a pod that never started",
      aPod("p", { status: { phase: "Pending" } }),
      [busy, aBudget({ status: none })],
    ],
    [
      "a budget that allows the eviction of unready pods",
      aPod("p", { status: unready }),
      [aBudget({ spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" }, status: { ...none, currentHealthy: 0 } })],
    ],
    ["a met budget for an unready pod", aPod("p", { status: unready }), [aBudget({ status: none })]],
  ])("allows the eviction of a pod with %s", (_, pod, budgets) => {
    expect(textOf(pod, ...budgets)).toBe("free");
  });

  it("waits while pods are missing, and reports how many", () => {
    expect(textOf(aPod(), busy)).toBe("waiting: PodDisruptionBudget default/web needs 2 more healthy pods (1 of 2)");
    const almost = aBudget({ status: { ...none, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 } });
    expect(textOf(aPod(), almost)).toBe("waiting: PodDisruptionBudget default/web needs 1 more healthy pod (2 of 2)");
  });

  it("waits for an unready pod's budget that is not met", () => {
    expect(textOf(aPod("p", { status: unready }), busy)).toMatch(/^waiting/);
  });

  it("waits while an evicted pod is terminating: its budget is not misconfigured", () => {
    const status = { ...none, expectedPods: 3, currentHealthy: 3, disruptedPods: { other: "2026-01-01T00:00:00Z" } };
    expect(textOf(aPod(), aBudget({ status }))).toMatch(/^waiting/);
  });

  it.each<[Budget["spec"], Budget["status"], string]>([
    [{ maxUnavailable: 0 }, {}, "maxUnavailable is 0; set it to 1 or more"],
    [{ maxUnavailable: "0%" }, {}, "maxUnavailable is 0%; set it to 1 or more"],
    [{ minAvailable: "100%" }, {}, "minAvailable is 100%; set maxUnavailable: 1 instead"],
    [{ minAvailable: 2 }, {}, "minAvailable is 2 of 2 pods; lower it, or run more pods"],
    [
      { minAvailable: 1 },
      { expectedPods: 1, currentHealthy: 1, desiredHealthy: 1 },
      "minAvailable is 1 of 1 pod; lower it, or run more pods",
    ],
    [{ minAvailable: "90%" }, {}, "it requires 2 healthy pods of 2; change it, or run more pods"],
  ])(
    "names a budget that can never be met, and what to do, whatever the health of its pods: %j",
    (spec, status, why) => {
      const { currentHealthy: _, ...rest } = { ...none, desiredHealthy: 2, ...status };
      for (const currentHealthy of [0, 1, rest.expectedPods ?? 2]) {
        const budget = aBudget({ spec, status: { ...rest, currentHealthy } });
        expect(textOf(aPod(), budget)).toBe(`misconfigured: PodDisruptionBudget default/web can never be met: ${why}`);
      }
    },
  );

  it("names a budget over pods without a controller, unless its minAvailable is a number", () => {
    const bare = aPod("p", { metadata: { ownerReferences: [] } });
    const status = { ...none, expectedPods: 0, currentHealthy: 1, desiredHealthy: 0 };
    const { minAvailable: _, ...unlimited } = aBudget().spec ?? {};
    for (const spec of [{ maxUnavailable: 1 }, { minAvailable: "50%" }]) {
      const budget = { ...aBudget({ status }), spec: { ...unlimited, ...spec } };
      expect(textOf(bare, budget)).toBe(
        "misconfigured: PodDisruptionBudget default/web can never be met: the pod has no controller, so that only a number as minAvailable can be met; set minAvailable to a number, or delete the pod",
      );
      expect(textOf(aPod(), budget)).toMatch(/^waiting/);
    }
    expect(textOf(bare, aBudget({ status }))).toMatch(/^waiting/);
  });

  it("names a budget whose pods Kubernetes cannot count, although its status is of no generation", () => {
    const conditions = [
      { type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: "found no controllers for pod" },
    ];
    const budget = aBudget({ metadata: { generation: 2 }, status: { ...none, observedGeneration: 0, conditions } });
    expect(textOf(aPod(), budget)).toBe(
      "misconfigured: PodDisruptionBudget default/web can never be met: its pods cannot be counted (found no controllers for pod); change its selector, or delete it",
    );
    const enough = [{ type: "DisruptionAllowed", status: "True", reason: "SufficientPods" }];
    expect(textOf(aPod(), aBudget({ status: { conditions: enough } }))).toBe("free");
  });

  it("selects all pods of its namespace with an empty selector, and none without one", () => {
    expect(textOf(aPod(), aBudget({ spec: { selector: {} }, status: none }))).toMatch(/^misconfigured/);
    expect(textOf(aPod(), { metadata: { name: "b", namespace: "default" }, status: none })).toBe("free");
  });

  it("knows that the API server evicts no pod with two budgets", () => {
    const other = aBudget({ metadata: { name: "all" }, spec: { selector: {} } });
    expect(textOf(aPod(), aBudget(), other)).toBe(
      "ambiguous: PodDisruptionBudgets default/all and default/web both select the pod, and the API server evicts no pod with more than one; change their selectors",
    );
  });

  it("treats missing fields of a budget as zero", () => {
    const bare: Budget = { metadata: { name: "b", namespace: "default" }, spec: { selector: {} }, status: {} };
    expect(textOf(aPod(), bare)).toBe("waiting: PodDisruptionBudget default/b needs 1 more healthy pod (0 of 0)");
  });
});
