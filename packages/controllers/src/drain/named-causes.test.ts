import { describe, expect, it } from "vitest";
import { testNow } from "../testing/snapshots.ts";
import { type Blocker, describeBlockers } from "./blockers.ts";
import { namedCauses } from "./named-causes.ts";

const causesOf = (...blockers: readonly Blocker[]) => [
  ...namedCauses(`${describeBlockers(blockers, testNow) ?? ""}. Initiate node drain`, " Initiate node drain"),
];
const budget = (cause: "waiting" | "misconfigured" | "ambiguous", message: string, pod = "default/a"): Blocker => ({
  kind: "budget",
  pod,
  cause,
  message,
});

describe("the causes that a text names", () => {
  it.each([
    ["pods that leave", { kind: "leaving", pod: "default/a" }],
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
      budget("waiting", "PodDisruptionBudget default/web needs 2 more healthy pods (0 of 2)", "default/b"),
    );
    expect(one).toEqual(["budget"]);
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
        ),
      ).toSorted(),
    ).toEqual([
      "PodDisruptionBudget default/web can never be met",
      "PodDisruptionBudgets default/x and default/y both select the pod",
    ]);
  });

  it.each([
    [{ kind: "overdue", pod: "default/a", finalizers: [] }, "overdue"],
    [{ kind: "returning", pod: "default/a" }, "returning"],
    [{ kind: "rejected", pod: "default/a", message: "etcd: 12345 timed out" }, "rejected"],
    [{ kind: "completion", pod: "default/a" }, "completion"],
    [{ kind: "detaching", pod: "default/a", volumes: ["pv"], isOverdue: true }, "volumes"],
  ] as const)("are known by their kind: $0.kind", (blocker, expected) => {
    expect(causesOf(blocker)).toEqual([expected]);
  });

  it("distinguish finalizers", () => {
    const [cause = ""] = causesOf({ kind: "overdue", pod: "default/a", finalizers: ["x/y"] });
    expect(cause).toContain("finalizers x/y");
  });

  it("are none of a text without lines about pods", () => {
    expect([...namedCauses("Drain successful. Initiate VM deletion")]).toEqual([]);
    expect([...namedCauses("* Pods a: something new")]).toEqual([]);
  });
});
