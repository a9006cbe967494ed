import { describe, expect, it } from "vitest";
import type { Blocker } from "../../drain/blockers.ts";
import { describeBlockers } from "../../drain/blockers.ts";
import { aMachine, aNode } from "../../testing/builders.ts";
import { later, testNow } from "../../testing/snapshots.ts";
import { drainStatusUpdate } from "./drain-status-update.ts";

const held = (pod: string, finalizer: string): Blocker => ({ kind: "overdue", pod, finalizers: [finalizer] });
const phrase = "deletionTimestamp set, but still not removed from the Node: finalizers";

/** The update for these blockers of a machine with that description. */
function updateOf(blockers: readonly Blocker[], description = "") {
  const lastOperation = { description: description, lastUpdateTime: testNow.toISOString() };
  const message = describeBlockers(blockers, testNow);
  const progress = {
    state: "draining",
    blockers,
    ...(message === undefined ? {} : { message }),
    actions: [],
    requeueAfterMs: 1,
  } as const;
  const machine = aMachine({ status: { lastOperation } });
  const snapshot = { machine, node: aNode(), drainRulesProblem: undefined, reported: new Map<string, string>() };
  const { message: text, because } = drainStatusUpdate(snapshot, progress, later(1_000));
  return { text, events: because.map((reason) => reason.message) };
}

describe("what holds a drain up", () => {
  it("leads to one event of one line for each cause", () => {
    expect(updateOf([held("default/a", "x/y"), held("default/b", "z"), held("default/c", "x/y")]).events).toEqual([
      `Drain of node node is blocked: Pods default/a, default/c: ${phrase} x/y`,
      `Drain of node node is blocked: Pod default/b: ${phrase} z`,
    ]);
  });

  it("is reported when it is new, and not otherwise", () => {
    const { text = "" } = updateOf([held("default/a", "x/y")]);
    expect(updateOf([held("default/a", "x/y"), held("default/b", "z")], text).events).toEqual([
      `Drain of node node is blocked: Pod default/b: ${phrase} z`,
    ]);
    expect(updateOf([held("default/c", "x/y")], text).events).toEqual([]);
    expect(updateOf([{ kind: "leaving", pod: "default/a" }]).events).toEqual([]);
    expect(updateOf([]).events).toEqual([]);
  });

  it("is reported as far as it fits into the status, and not in each reconcile", () => {
    const blockers = Array.from({ length: 16 }, (_, index) => held(`default/p${index}`, `x/${index}`));
    const { text = "", events } = updateOf(blockers);
    expect(text).toContain("* and 4 more");
    expect(events).toHaveLength(12);
    expect(updateOf(blockers, text).events).toEqual([]);
    // Causes that fit in once others are resolved are reported then.
    expect(updateOf(blockers.slice(2), text).events).toHaveLength(2);
  });
});
