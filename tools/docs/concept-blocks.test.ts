import { describe, expect, it } from "vitest";
import { conceptBlocks, rollingUpdateSteps } from "./concept-blocks.ts";

const blocks = new Map(conceptBlocks());

describe("pictures of the concepts", () => {
  it("have the transitions of the phase table", () => {
    expect(blocks.get("life-picture")).toContain("  New --> Pending\n");
    expect(blocks.get("life-picture")).toContain("  Running --> Terminating\n");
    expect(blocks.get("life-picture")).not.toContain("InPlace");
    expect(blocks.get("health-picture")).toContain(
      "  Unknown --> Failed: the health timeout passed and the remediation budget allows it\n",
    );
  });

  it("show the steps that the planner takes", () => {
    expect(rollingUpdateSteps({ replicas: 2, maxSurge: 1, maxUnavailable: 0 })).toEqual([
      { old: 2, new: 0 },
      { old: 2, new: 1 },
      { old: 1, new: 1 },
      { old: 1, new: 2 },
      { old: 0, new: 2 },
    ]);
    expect(blocks.get("rollout-picture")).toContain('s0["3 old, 0 new"] --> s1["3 old, 1 new"] --> s2["2 old, 1 new"]');
  });

  it("have what the drain decides about each kind of pod", () => {
    const picture = blocks.get("drain-picture");
    expect(picture).toContain('kind -- "mirror, DaemonSet, completed, rule Skip" --> stays');
    expect(picture).toContain('kind -- "rule WaitCompleted, terminating" --> waits');
    expect(picture).toContain('kind -- "everything else, by order" --> budget');
  });
});
