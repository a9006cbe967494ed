import { causeKey, continueWith, readOperation } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { testNow } from "../testing/snapshots.ts";
import { type Blocker, describeBlockers, describedCauses } from "./blockers.ts";

/** The causes that a drain reports, which are the same when a version without details described it. */
function causesOf(...blockers: readonly Blocker[]): readonly string[] {
  const causes = describedCauses(blockers);
  const description = continueWith("Drain", describeBlockers(blockers, testNow));
  expect(readOperation({ lastOperation: { description } }).causes).toEqual(causes);
  return causes.map(causeKey);
}
const budget = (
  cause: "waiting" | "misconfigured" | "ambiguous",
  message: string,
  { pod = "default/a", budgets = ["default/web"] } = {},
): Blocker => ({ kind: "budget", pod, cause, message, budgets });

describe("the causes that a drain reports", () => {
  it.each([
    ["pods that wait for their turn", { kind: "turn", pod: "default/a" }],
    ["pods of a higher order", { kind: "order", pod: "default/a" }],
    ["a driver lookup", { kind: "lookup", pod: "default/a" }],
    ["volumes that are on their way", { kind: "reattaching", pod: "default/a", volumes: ["pv"], isOverdue: false }],
  ] as const)("are not %s: that is progress", (_, blocker) => {
    expect(causesOf(blocker)).toEqual([]);
  });

  it("are the same for any pods and numbers", () => {
    const one = causesOf(budget("waiting", "PodDisruptionBudget default/web needs 1 more healthy pod (1 of 2)"));
    const more = causesOf(
      budget("waiting", "PodDisruptionBudget default/web needs 2 more healthy pods (0 of 2)"),
      budget("waiting", "PodDisruptionBudget default/web needs 2 more healthy pods (0 of 2)", { pod: "default/b" }),
    );
    expect(one).toEqual(["DisruptionBudget/"]);
    expect(more).toEqual(one);
  });

  it("distinguish budgets that require a user", () => {
    expect(
      causesOf(
        budget(
          "misconfigured",
          "PodDisruptionBudget default/web can never be met: maxUnavailable is 0; set it to 1 or more",
        ),
        budget(
          "ambiguous",
          "PodDisruptionBudgets default/x and default/y both select the pod, and the API server evicts no pod with more than one",
          { budgets: ["default/x", "default/y"] },
        ),
      ).toSorted(),
    ).toEqual(["DisruptionBudget/default/web", "DisruptionBudget/default/x and default/y"]);
  });

  it.each([
    [{ kind: "overdue", pod: "default/a", finalizers: [] }, "PodsOverdue/"],
    [{ kind: "leaving", pod: "default/a" }, "PodsTerminating/"],
    [{ kind: "unreachable", pod: "default/a" }, "NodeUnreachable/"],
    [{ kind: "returning", pod: "default/a" }, "PodsReturning/"],
    [{ kind: "rejected", pod: "default/a", message: "etcd: 12345 timed out" }, "EvictionFailed/"],
    [{ kind: "completion", pod: "default/a" }, "PodsNotCompleted/"],
    [{ kind: "detaching", pod: "default/a", volumes: ["pv"], isOverdue: true }, "VolumesAttached/"],
  ] as const)("are known by their kind: $0.kind", (blocker, expected) => {
    expect(causesOf(blocker)).toEqual([expected]);
  });

  it("distinguish finalizers", () => {
    const [cause = ""] = causesOf({ kind: "overdue", pod: "default/a", finalizers: ["x/y"] });
    expect(cause).toBe("PodsOverdue/x/y");
  });

  it("are none of a text without lines about pods", () => {
    const descriptions = [
      "Drain successful. Initiate VM deletion",
      "Drain not completed yet:\n* Pods a: something new",
    ];
    const causes = descriptions.map((description) => readOperation({ lastOperation: { description } }).causes ?? []);
    expect(causes).toEqual([[], []]);
  });
});
