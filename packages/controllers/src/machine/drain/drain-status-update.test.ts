import { describe, expect, it } from "vitest";
import type { Blocker } from "../../drain/blockers.ts";
import { describeBlockers } from "../../drain/blockers.ts";
import { aMachine, aNode } from "../../testing/builders.ts";
import { later, testNow } from "../../testing/snapshots.ts";
import { drainStatusUpdate } from "./drain-status-update.ts";

const held = (pod: string, finalizer: string): Blocker => ({ kind: "overdue", pod, finalizers: [finalizer] });
const phrase = "deletionTimestamp set, but still not removed from the Node: finalizers";

/** What is told of these blockers of a machine whose status says that. */
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
      `The drain of node node is held up: Pods default/a, default/c: ${phrase} x/y`,
      `The drain of node node is held up: Pod default/b: ${phrase} z`,
    ]);
  });

  it("is told for what is new, and for nothing when nothing is", () => {
    const { text = "" } = updateOf([held("default/a", "x/y")]);
    expect(updateOf([held("default/a", "x/y"), held("default/b", "z")], text).events).toEqual([
      `The drain of node node is held up: Pod default/b: ${phrase} z`,
    ]);
    expect(updateOf([held("default/c", "x/y")], text).events).toEqual([]);
    expect(updateOf([{ kind: "leaving", pod: "default/a" }]).events).toEqual([]);
    expect(updateOf([]).events).toEqual([]);
  });

  it("is told as far as the status has room for it, and not in every pass", () => {
    const blockers = Array.from({ length: 16 }, (_, index) => held(`default/p${index}`, `x/${index}`));
    const { text = "", events } = updateOf(blockers);
    expect(text).toContain("* and 4 more");
    expect(events).toHaveLength(12);
    expect(updateOf(blockers, text).events).toEqual([]);
    // What comes into sight when other causes have gone is told then.
    expect(updateOf(blockers.slice(2), text).events).toHaveLength(2);
  });
});
