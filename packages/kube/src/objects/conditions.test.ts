import * as fc from "fast-check";
import { expect, test } from "vitest";
import { apiTime, findCondition, isConditionTrue, removeCondition, setCondition } from "./conditions.ts";
import type { Condition, ConditionState } from "./conditions.ts";

const then = "2026-01-01T00:00:00Z";
const now = new Date("2026-01-02T00:00:00.999Z");
const nowText = "2026-01-02T00:00:00Z";
const state: ConditionState = { type: "Ready", status: "True", reason: "Fine", message: "all is well" };
const entry: Condition = { ...state, lastTransitionTime: then };
const other: Condition = { type: "Other", status: "False" };

test.each<[string, Partial<ConditionState>, string]>([
  ["moves the transition time with the status", { status: "False" }, nowText],
  ["keeps the transition time when only the reason changes", { reason: "Better" }, then],
  ["keeps the transition time when only the message changes", { message: "very well" }, then],
  ["keeps the transition time when only the generation changes", { observedGeneration: 2 }, then],
])("%s", (_, change, lastTransitionTime) => {
  const before = { ...entry, observedGeneration: 1 };
  expect(setCondition([other, before], { ...state, observedGeneration: 1, ...change }, { now })).toEqual([
    other,
    { ...before, ...change, lastTransitionTime },
  ]);
});

test("does not change an entry only to add a generation, which a schema may drop", () => {
  const list = [entry];
  expect(setCondition(list, { ...state, observedGeneration: 2 }, { now })).toBe(list);
  expect(setCondition(list, { ...state, reason: "Better", observedGeneration: 2 }, { now })).toMatchObject([
    { reason: "Better", observedGeneration: 2 },
  ]);
  const seen = [{ ...entry, observedGeneration: 3 }];
  expect(setCondition(seen, { ...state, observedGeneration: 3 }, { now })).toBe(seen);
  expect(setCondition(seen, state, { now })).toBe(seen);
});

test("adds a new condition at the end, and gives one a transition time that never had it", () => {
  expect(setCondition([other], state, { now })).toEqual([other, { ...state, lastTransitionTime: nowText }]);
  expect(setCondition([{ ...state, message: "old" }], state, { now })).toEqual([
    { ...state, lastTransitionTime: nowText },
  ]);
});

test("writes the update time only where the kind has it, and renews it when touched", () => {
  expect(setCondition([], state, { now, updateTime: true })[0]?.lastUpdateTime).toBe(nowText);
  const old = [{ ...entry, lastUpdateTime: then }];
  expect(setCondition(old, state, { now, updateTime: true })).toBe(old);
  expect(setCondition(old, state, { now, updateTime: true, touch: true })).toEqual([
    { ...entry, lastUpdateTime: nowText },
  ]);
  expect(setCondition(old, { ...state, reason: "Better" }, { now, updateTime: true })).toEqual([
    { ...entry, reason: "Better", lastUpdateTime: nowText },
  ]);
  const before = [{ ...entry, lastUpdateTime: then, observedGeneration: 1 }];
  expect(setCondition(before, { ...state, observedGeneration: 2 }, { now, updateTime: true })).toEqual([
    { ...entry, lastUpdateTime: then, observedGeneration: 2 },
  ]);
});

test("is the very same list when it is set to its own content, whatever was done before", () => {
  const states = fc.record({
    type: fc.constantFrom("A", "B", "C"),
    status: fc.constantFrom("True", "False", "Unknown"),
    reason: fc.constantFrom("X", "Y"),
    message: fc.constantFrom("", "text"),
  });
  fc.assert(
    fc.property(fc.array(states, { minLength: 1 }), (changes) => {
      let list: readonly Condition[] = [];
      for (const change of changes) {
        list = setCondition(list, change, { now });
        expect(setCondition(list, change, { now: new Date(0) })).toBe(list);
        expect(isConditionTrue(list, change.type)).toBe(change.status === "True");
      }
      expect(new Set(list.map(({ type }) => type)).size).toBe(list.length);
    }),
  );
});

test("finds and removes by type", () => {
  expect(findCondition([other, entry], "Ready")).toBe(entry);
  expect(findCondition(undefined, "Ready")).toBeUndefined();
  const list = [other];
  expect(removeCondition([entry, other, entry], "Ready")).toEqual([other]);
  expect(removeCondition(list, "Ready")).toBe(list);
});

test("writes times in whole seconds, rounded down", () => {
  expect(apiTime(now)).toBe(nowText);
});
