import { aMachine } from "@millwright/controllers/testing";
import { describe, expect, it } from "vitest";
import { deletionTimes, pastDurations } from "./durations.ts";

const SECOND = 1_000;
const gone = (uid: unknown, after: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `${String(uid)}.1`, namespace: "n" },
  involvedObject: { kind: "Machine", name: `m-${String(uid)}`, uid },
  type: "Normal",
  reason: "Deleting",
  message: `Drain successful. VM deletion was successful; machine deleted after ${after}`,
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:00:00Z",
  count: 1,
  ...more,
});

describe("deletionTimes", () => {
  it.each<[string, readonly object[], readonly number[]]>([
    ["nothing of no events", [], []],
    ["each machine that is gone, in whatever order they come", [gone("a", "9s"), gone("b", "2s")], [2, 9]],
    ["a machine once, with the longest", [gone("a", "2s"), gone("a", "5s"), gone("a", "3s")], [5]],
    ["what was counted together", [gone("a", "2s", { count: 7, series: { count: 7 } })], [2]],
    [
      "what stands for several",
      [gone("a", "", { message: "(combined from similar events): x; machine deleted after 4s" })],
      [4],
    ],
    [
      "events without a time of their own, for the words have it",
      [
        gone("a", "2s", { firstTimestamp: null, lastTimestamp: null, eventTime: "2026-01-01T00:00:00.000000Z" }),
        gone("b", "3s", { firstTimestamp: undefined, lastTimestamp: undefined, eventTime: null }),
      ],
      [2, 3],
    ],
    [
      "nothing of machines that are still there",
      [
        gone("a", "", { message: "Force Drain successful; stage DeleteVm" }),
        gone("b", "", { reason: "DeletionBlocked", message: "VM deletion failed; stage DeleteVm" }),
      ],
      [],
    ],
    ["nothing of machines that had no node", [gone("a", "", { message: "x; machine deleted" })], []],
    [
      "nothing of other objects and other reasons",
      [
        gone("a", "2s", { involvedObject: { kind: "MachineSet", name: "a", uid: "a" } }),
        gone("b", "2s", { reason: "CreatedVM" }),
      ],
      [],
    ],
    [
      "nothing from other objects and malformed events",
      [
        {},
        [],
        gone("a", "2s", { involvedObject: null }),
        gone("b", "2s", { involvedObject: "Machine" }),
        gone("c", "2s", { message: 5 }),
        gone(undefined, "2s"),
        gone({ a: 1 }, "2s"),
        gone("d", "-2s"),
        gone("e", "9999999h"),
        gone("f", "soon"),
      ],
      [],
    ],
    ["machines with names out of a prototype", [gone("__proto__", "2s"), gone("constructor", "3s")], [2, 3]],
  ])("counts %s", (_, events, seconds) => {
    expect(deletionTimes(events)).toEqual(seconds.map((each) => each * SECOND));
  });
});

describe("pastDurations", () => {
  const machines = ["3m", "", "1m", "2m", "-5m", "x"].map((joinDuration) => aMachine({ status: { joinDuration } }));
  const events = [gone("a", "40s"), gone("b", "10s"), gone("c", "20s"), gone("d", "30s")];

  it("takes the middle of each, the shorter one of two", () => {
    expect(pastDurations({ machines, events })).toEqual({
      joinMs: 120 * SECOND,
      deletionMs: 20 * SECOND,
      finishedJoins: 3,
      finishedDeletions: 4,
    });
  });

  it("prefers what was given, no time at all included", () => {
    expect(pastDurations({ machines, events }, { deletionMs: 0 })).toMatchObject({
      deletionMs: 0,
      finishedDeletions: 0,
    });
    expect(pastDurations({ machines, events }, { joinMs: 0 })).toEqual({
      joinMs: 0,
      deletionMs: 20 * SECOND,
      finishedJoins: 0,
      finishedDeletions: 4,
    });
  });

  it("knows nothing of a past that left no trace", () => {
    expect(pastDurations({ machines: [], events: [] })).toEqual({
      joinMs: undefined,
      deletionMs: undefined,
      finishedJoins: 0,
      finishedDeletions: 0,
    });
  });
});
