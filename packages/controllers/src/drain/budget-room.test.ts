import { describe, expect, it } from "vitest";
import type { Budget, Pod } from "../model/node-objects.ts";
import { aBudget, aPod } from "../testing/drain-objects.ts";
import { createBudgetRoom } from "./budget-room.ts";
import type { EvictionView } from "@millwright/kube";

const pods = ["a", "b", "c"].map((name) => aPod(name));
const take = (
  budgets: readonly Budget[],
  evictions: Readonly<Record<string, EvictionView>> = {},
  own: readonly Pod[] = pods,
) => {
  const room = createBudgetRoom(budgets, own, new Map(Object.entries(evictions)));
  return own.map((pod) => room.take(pod).state).join(" ");
};

describe("the room of budgets", () => {
  it("is used once", () => {
    expect(take([aBudget({ status: { disruptionsAllowed: 2 } })])).toBe("free free waiting");
  });

  it("names the budget that is used up", () => {
    const room = createBudgetRoom([aBudget()], pods, new Map());
    room.take(aPod("a"));
    expect(room.take(aPod("b"))).toMatchObject({
      message: "PodDisruptionBudget default/web allows no further disruptions",
    });
  });

  it("is less by evictions that the budget's status does not show yet", () => {
    expect(take([aBudget()], { "uid-b": { state: "queued" } })).toBe("waiting waiting waiting");
    expect(take([aBudget()], { "uid-b": { state: "accepted" } })).toBe("waiting waiting waiting");
  });

  it("is not reduced by a rejected eviction, nor by a terminating pod: the status includes it", () => {
    const rejected = { state: "rejected", message: "no", isBudget: true, retryAt: 0 } as const;
    expect(take([aBudget()], { "uid-b": rejected })).toBe("free waiting waiting");
    const going = aPod("b", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    const room = createBudgetRoom([aBudget()], [going], new Map([["uid-b", { state: "accepted" }]]));
    expect(room.take(aPod("a")).state).toBe("free");
  });

  it("is unlimited for pods without a budget, for pods that never started, and when the status is outdated", () => {
    expect(take([])).toBe("free free free");
    const pending = pods.map(({ metadata }) => aPod(metadata.name, { status: { phase: "Pending" } }));
    expect(take([aBudget()], {}, pending)).toBe("free free free");
    expect(take([aBudget({ metadata: { generation: 2 }, status: { disruptionsAllowed: 0 } })])).toBe("free free free");
  });

  it("is the budget's own verdict where there is none", () => {
    expect(take([aBudget({ spec: { maxUnavailable: 0 }, status: { disruptionsAllowed: 0 } })])).toBe(
      "misconfigured misconfigured misconfigured",
    );
  });
});
