import { createVirtualClock } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createNodeReads } from "./node-reads.ts";

it("counts a read of the same node for half a minute, until the machine is deleted", async () => {
  const clock = createVirtualClock();
  const reads = createNodeReads(clock);
  const recent = () => [reads.isRecent("uid", "node"), reads.isRecent("uid", "other"), reads.isRecent("x", "node")];
  expect(recent()).toEqual([false, false, false]);
  reads.record("uid", "node");
  expect(recent()).toEqual([true, false, false]);
  await clock.advance(30_000);
  expect(recent()).toEqual([false, false, false]);
  reads.record("uid", "node");
  reads.record("uid", "other");
  expect(recent()).toEqual([true, true, false]);
  reads.forget("uid");
  expect(recent()).toEqual([false, false, false]);
});
