import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createListDoubts } from "./list-doubts.ts";

const MINUTE = 60_000;

it("doubts a class whose list lacks VMs, until one has a VM, and answers from before even then", async () => {
  const clock = createVirtualClock();
  const doubts = createListDoubts(clock, () => true, MINUTE);
  doubts.answered("small");
  doubts.proven("small");
  expect(doubts.of("small")).toBeUndefined();
  doubts.doubtful("small", 3, 4);
  doubts.answered("small");
  expect(doubts.of("small")).toEqual({ kind: "doubtful", missing: 3, machines: 4 });
  await clock.advance(MINUTE);
  const over = { kind: "over", atMs: clock.now().getTime() };
  doubts.proven("small");
  expect(doubts.of("small")).toEqual(over);
  await clock.advance(MINUTE);
  doubts.proven("small");
  expect(doubts.of("small")).toEqual(over);
});

it("waits for the first list of a class that has lists, for a while", async () => {
  const clock = createVirtualClock();
  const doubts = createListDoubts(clock, (name) => name !== "unlisted", MINUTE);
  expect([doubts.of("small"), doubts.of("unlisted")]).toEqual([{ kind: "no list" }, undefined]);
  doubts.answered("small");
  expect([doubts.of("small"), doubts.of("other")]).toEqual([undefined, { kind: "no list" }]);
  await clock.advance(MINUTE);
  expect(doubts.of("other")).toBeUndefined();
});
