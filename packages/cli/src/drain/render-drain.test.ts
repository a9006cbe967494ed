import type { NodeDrainPreview } from "@millwright/runtime";
import { describe, expect, it } from "vitest";
import { renderDrain } from "./render-drain.ts";

const preview: NodeDrainPreview = {
  node: "n-1",
  isCordoned: true,
  machine: { namespace: "machines", name: "m-1", isBeingDeleted: true },
  rules: [{ behavior: "Drain", order: 1 }],
  startedAt: "2026-01-01T00:00:00.000Z",
  evictUntil: "2026-01-01T01:00:00.000Z",
  deadline: "2026-01-01T02:00:00.000Z",
  outcome: "blocked",
  pods: [
    {
      namespace: "shop",
      name: "db",
      verdict: { behavior: "evict", reason: "managed", order: 1 },
      budget: { state: "misconfigured", budgets: ["shop/db"], message: "budget shop/db can \u001b[31mnever be met" },
      volumes: [
        { name: "pv-1", claim: "shop/data-db", isAttachedHere: true },
        { name: "pv-2", claim: "shop/log-db", isAttachedHere: false },
      ],
    },
    {
      namespace: "shop",
      name: "web",
      verdict: { behavior: "evict", reason: "unmanaged", order: 0 },
      budget: { state: "free" },
      volumes: [],
    },
    { namespace: "kube-system", name: "agent", verdict: { behavior: "skip", reason: "DaemonSet" }, volumes: [] },
  ],
  steps: [
    { how: "evict", pods: ["shop/web"] },
    { how: "delete", pods: ["shop/db"], at: "2026-01-01T01:00:00.000Z" },
  ],
  blockedBy: [],
  because: ["* Pod shop/db: PodDisruptionBudget shop/db can never be met"],
};

describe("renderDrain", () => {
  it("shows each pod with what is done, why, its order, volumes and budget, the steps, and what blocks", () => {
    expect(renderDrain(preview).split("\n")).toEqual([
      "Node:          n-1 (cordoned)",
      "Machine:       machines/m-1 (is being deleted)",
      "Rules:         1",
      "Evicts until:  2026-01-01T01:00:00.000Z; from then on pods are deleted despite their budgets",
      "Ends at:       2026-01-01T02:00:00.000Z at the latest; remaining pods are deleted without a grace period",
      "Pods:",
      "  POD                DRAIN    WHY                              ORDER  VOLUMES                         BUDGET",
      "  shop/db            evicted  its controller recreates it      1      pv-1, pv-2 (not attached here)  misconfigured: budget shop/db can  [31mnever be met",
      "  shop/web           evicted  has no controller                0      -                               allows it",
      "  kube-system/agent  stays    its DaemonSet would recreate it  -      -                               -",
      "Steps, each after the one before is done:",
      "  1. evict: shop/web",
      "  2. at 2026-01-01T01:00:00.000Z, if nothing changes, delete despite the budget: shop/db",
      "Blocked by:",
      "  * Pod shop/db: PodDisruptionBudget shop/db can never be met",
      "A drain of node n-1 would be blocked until its causes are fixed, at the latest until 2026-01-01T02:00:00.000Z.",
      "",
    ]);
  });

  it.each([
    ["completes", "would complete by itself"],
    ["forced", "would be forced"],
  ] as const)("reports that a drain %s", (outcome, text) => {
    const { machine: _, ...rest } = preview;
    const shown = renderDrain({ ...rest, outcome, pods: [], steps: [], because: [], problem: "no JSON" });
    expect(shown).toContain(text);
    expect(shown).toContain("Machine:       none: Millwright would not drain this node");
    expect(shown).toContain("ignored. no JSON");
    expect(shown).not.toContain("Pods:");
  });
});
