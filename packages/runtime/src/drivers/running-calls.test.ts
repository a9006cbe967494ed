import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createRunningCalls } from "./running-calls.ts";

it("lists the calls that have not ended, the longest first, and announces each", async () => {
  const clock = createVirtualClock();
  const begun: string[] = [];
  const calls = createRunningCalls(clock, (what) => begun.push(what));
  const endFirst = calls.begin("first");
  await clock.advance(100);
  const endSecond = calls.begin("second\u001b[31m");
  await clock.advance(50);
  expect(calls.list()).toEqual([
    { what: "first", ms: 150 },
    { what: "second\uFFFD[31m", ms: 50 },
  ]);
  endFirst();
  expect(calls.list().map(({ what }) => what)).toEqual(["second\uFFFD[31m"]);
  endSecond();
  expect([calls.list(), begun]).toEqual([[], ["first", "second\uFFFD[31m"]]);
});
