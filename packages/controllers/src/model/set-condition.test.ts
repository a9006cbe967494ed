import { describe, expect, it } from "vitest";
import {
  apiTime,
  type Condition,
  type ConditionState,
  findCondition,
  removeCondition,
  setCondition,
} from "./set-condition.ts";

const then = "2026-01-01T00:00:00Z";
const now = new Date("2026-01-02T00:00:00.999Z");
const nowText = "2026-01-02T00:00:00Z";
const state: ConditionState = { type: "Ready", status: "True", reason: "Fine", message: "all is well" };
const entry: Condition = { ...state, lastTransitionTime: then, lastUpdateTime: then };
const other: Condition = { type: "Other", status: "False" };

describe("setCondition", () => {
  it("adds a new condition at the end", () => {
    expect(setCondition([other], state, now)).toEqual([
      other,
      { ...entry, lastTransitionTime: nowText, lastUpdateTime: nowText },
    ]);
  });

  it("returns the very list in which nothing changes", () => {
    const list = [entry, other];
    expect(setCondition(list, state, now)).toBe(list);
  });

  it.each<[string, Partial<ConditionState>, Partial<Condition>]>([
    ["both times with the status", { status: "False" }, { lastTransitionTime: nowText, lastUpdateTime: nowText }],
    ["only the update time with the reason", { reason: "Better" }, { lastUpdateTime: nowText }],
    ["only the update time with the message", { message: "very well" }, { lastUpdateTime: nowText }],
    ["no time with the generation", { observedGeneration: 2 }, {}],
  ])("moves %s, and keeps the order", (_, change, times) => {
    const before = { ...entry, observedGeneration: 1 };
    expect(setCondition([before, other], { ...state, observedGeneration: 1, ...change }, now)).toEqual([
      { ...before, ...change, ...times },
      other,
    ]);
  });

  it("leaves an entry without generation alone, from which MCM's definitions dropped it", () => {
    const list = [entry];
    expect(setCondition(list, { ...state, observedGeneration: 2 }, now)).toBe(list);
    expect(setCondition(list, { ...state, reason: "Better", observedGeneration: 2 }, now)).toMatchObject([
      { reason: "Better", observedGeneration: 2 },
    ]);
  });

  it("renews the update time of an unchanged condition that is touched", () => {
    expect(setCondition([entry], state, now, "transition and update", true)).toEqual([
      { ...entry, lastUpdateTime: nowText },
    ]);
  });

  it("writes no update time where the list has none", () => {
    expect(setCondition([], state, now, "transition")).toEqual([{ ...state, lastTransitionTime: nowText }]);
  });

  it("gives a condition the transition time that it never had", () => {
    expect(setCondition([{ ...state, reason: "Old" }], state, now, "transition")).toEqual([
      { ...state, lastTransitionTime: nowText },
    ]);
  });

  it("asks for nothing when the generation is the same or nobody cares", () => {
    const list = [{ ...entry, observedGeneration: 3 }];
    expect(setCondition(list, { ...state, observedGeneration: 3 }, now)).toBe(list);
    expect(setCondition(list, state, now)).toBe(list);
  });
});

describe("findCondition", () => {
  it("finds by type, and nothing in no list", () => {
    expect(findCondition([other, entry], "Ready")).toBe(entry);
    expect(findCondition([other], "Ready")).toBeUndefined();
    expect(findCondition(undefined, "Ready")).toBeUndefined();
  });
});

describe("removeCondition", () => {
  it("removes all entries of the type, and returns the very list that has none", () => {
    const list = [other];
    expect(removeCondition([entry, other, entry], "Ready")).toEqual([other]);
    expect(removeCondition(list, "Ready")).toBe(list);
  });
});

describe("apiTime", () => {
  it("has whole seconds, rounded down", () => {
    expect(apiTime(now)).toBe(nowText);
  });
});
