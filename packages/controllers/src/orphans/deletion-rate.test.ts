import { expect, test } from "vitest";
import { mayDelete } from "./deletion-rate.ts";

const MINUTE = 60_000;
const rate = { burst: 3, perHour: 6 };
const at = (...minutes: readonly number[]) => minutes.map((minute) => minute * MINUTE);

test.each<[string, readonly number[], number, boolean]>([
  ["nothing was deleted", [], 0, true],
  ["there is room in the burst", at(0, 0), 0, true],
  ["the burst is used", at(0, 0, 0), 0, false],
  ["one is not paid back yet", at(0, 0, 0), 9, false],
  ["one is paid back", at(0, 0, 0), 10, true],
  ["that one is used, too", at(0, 0, 0, 10), 10, false],
  ["nothing is saved up over a long time", at(0, 600, 600, 600), 600, false],
  ["all are paid back", at(0, 0, 0, 10, 20), 120, true],
])("when %s", (_, deletions, minute, expected) => {
  expect(mayDelete({ deletions, rate, nowMs: minute * MINUTE })).toBe(expected);
});
