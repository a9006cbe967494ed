import { expect, test } from "vitest";
import { ago, duration } from "./format.js";
import { actionOf } from "./keyboard.js";
import { createEventParser } from "./sse.js";
import { scrollToShow, topsOf, visibleRange } from "./visible-range.js";

test("events are read from chunks that end anywhere", () => {
  const text = 'event: rows\ndata: {"a":"\\n\\n"}\n\nevent: synced\ndata: {}\n\n';
  for (let at = 0; at <= text.length; at++) {
    const parse = createEventParser();
    expect([...parse(text.slice(0, at)), ...parse(text.slice(at))]).toEqual([
      { name: "rows", data: { a: "\n\n" } },
      { name: "synced", data: {} },
    ]);
  }
});

test.each([
  [119_000, "119s"],
  [120_000, "2m"],
  [7_199_000, "119m"],
  [7_200_000, "2h"],
  [172_800_000, "2d"],
  [-5, "0s"],
])("a duration of %i ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("an unknown time has no age", () => {
  expect([ago(undefined, 0), ago("", 0), ago("1970-01-01T00:00:00Z", 3_000)]).toEqual(["", "", "3s"]);
});

const heights = { plain: 40, withCause: 60 };
const ok = { tone: "ok", cause: "VM is created" };

test("a row is higher when it has a cause to show", () => {
  const rows = [{ tone: "bad", cause: "no quota" }, ok, { tone: "bad", cause: "" }, { tone: "busy", cause: "joins" }];
  expect(topsOf(rows, heights)).toEqual([0, 60, 100, 140, 200]);
});

test("only the rows near the seen ones are drawn", () => {
  const list = {
    height: 400,
    tops: topsOf(
      Array.from({ length: 5_000 }, () => ok),
      heights,
    ),
  };
  expect(visibleRange({ ...list, scrollTop: 0 })).toEqual({ first: 0, end: 19 });
  expect(visibleRange({ ...list, scrollTop: 40_000 })).toEqual({ first: 992, end: 1_019 });
  expect(visibleRange({ ...list, scrollTop: 999_999_999 })).toEqual({ first: 4_982, end: 5_000 });
  expect(visibleRange({ height: 400, tops: [0, 40, 80], scrollTop: 40_000 })).toEqual({ first: 0, end: 2 });
  expect(visibleRange({ height: 400, tops: [0], scrollTop: 0 })).toEqual({ first: 0, end: 0 });
});

test("a row is scrolled into view by as little as possible", () => {
  const list = {
    scrollTop: 400,
    height: 400,
    tops: topsOf(
      Array.from({ length: 50 }, () => ok),
      heights,
    ),
  };
  expect(scrollToShow(12, list)).toBe(400);
  expect(scrollToShow(2, list)).toBe(80);
  expect(scrollToShow(20, list)).toBe(440);
});

test.each([
  ["j", "page", "next"],
  ["j", "control", "next"],
  ["j", "text", undefined],
  ["/", "page", "filter"],
  ["/", "text", undefined],
  ["Enter", "page", "open"],
  ["Enter", "control", undefined],
  ["Escape", "text", "close"],
  ["x", "page", undefined],
] as const)("%s on a %s means %s", (key, place, action) => {
  expect(actionOf({ key, place, isModified: false })).toBe(action);
  expect(actionOf({ key, place, isModified: true })).toBeUndefined();
});
