import { describe, expect, it } from "vitest";
import { aPod } from "../testing/drain-objects.ts";
import { drainTolerations, toleratesTaint, unschedulableTaint } from "./cordon-toleration.ts";
import type { Toleration } from "./node-objects.ts";

const preserved = "node.machine.sapcloud.io/preserved";
const podWith = (...tolerations: readonly Toleration[]) => aPod("web", { spec: { tolerations } });

describe("a toleration", () => {
  it.each<[string, Toleration, boolean, boolean]>([
    ["of everything", { operator: "Exists" }, true, true],
    ["of every NoSchedule", { operator: "Exists", effect: "NoSchedule" }, true, true],
    ["of every NoExecute", { operator: "Exists", effect: "NoExecute" }, false, false],
    ["of the cordon", { key: unschedulableTaint, operator: "Exists" }, true, false],
    [
      "of the cordon and its effect",
      { key: unschedulableTaint, operator: "Exists", effect: "NoSchedule" },
      true,
      false,
    ],
    ["of the cordon by its empty value", { key: unschedulableTaint }, true, false],
    ["of another value", { key: unschedulableTaint, operator: "Equal", value: "x" }, false, false],
    ["of another effect", { key: unschedulableTaint, operator: "Exists", effect: "NoExecute" }, false, false],
    ["of the preservation", { key: preserved, operator: "Exists" }, false, true],
    ["of another taint", { key: "node.kubernetes.io/not-ready", operator: "Exists" }, false, false],
    ["without a key that does not exist", { operator: "Equal" }, false, false],
  ])("%s", (_, toleration, ofCordon, ofPreservation) => {
    const pod = podWith(toleration);
    expect([toleratesTaint(pod, unschedulableTaint), toleratesTaint(pod, preserved)]).toEqual([
      ofCordon,
      ofPreservation,
    ]);
    expect(drainTolerations(pod)).toEqual(ofCordon || ofPreservation ? [toleration] : []);
  });

  it("is missing in most pods", () => {
    expect([toleratesTaint(aPod(), unschedulableTaint), drainTolerations(aPod())]).toEqual([false, []]);
  });
});
