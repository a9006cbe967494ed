import { apiTime } from "@millwright/kube";
import { expect, test } from "vitest";
import { ageText, humanDuration, rfc3339Micro } from "./timestamps.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [-5 * second, "<invalid>"],
  [-500, "0s"],
  [90 * second, "90s"],
  [3 * minute + 12 * second, "3m12s"],
  [5 * minute, "5m"],
  [20 * minute + 5 * second, "20m"],
  [3 * hour + 5 * minute, "3h5m"],
  [10 * hour, "10h"],
  [2 * day + 4 * hour, "2d4h"],
  [30 * day, "30d"],
  [800 * day, "2y70d"],
  [3650 * day, "10y"],
])("%d ms is %s, as kubectl writes it", (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test("times have the digits that Go's decoders want", () => {
  const time = new Date("2026-01-02T03:04:05.678Z");
  expect(apiTime(time)).toBe("2026-01-02T03:04:05Z");
  expect(rfc3339Micro(time)).toBe("2026-01-02T03:04:05.678000Z");
  expect(ageText(undefined, time)).toBe("<unknown>");
  expect(ageText("nonsense", time)).toBe("<invalid>");
});
