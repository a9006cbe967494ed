import { createVirtualClock } from "@millwright/base/testing";
import { expect, it } from "vitest";
import { createOverwriteLimit } from "./overwrite-limit.ts";

it("allows ten writes over those of another writer, then one in five seconds, and ten again after a quiet time", async () => {
  const clock = createVirtualClock();
  const limit = createOverwriteLimit<string>(clock);
  const writesIn = async (seconds: number): Promise<number> => {
    let writes = 0;
    for (let i = 0; i < seconds * 10; i++) {
      await clock.advance(100);
      if (limit.dueMs("k", "theirs") > clock.monotonicMs()) continue;
      limit.record("k", "theirs", "ours");
      writes++;
    }
    return writes;
  };
  limit.record("k", "none", "ours");
  expect(await writesIn(1)).toBe(10);
  expect(await writesIn(60)).toBe(12);
  expect(limit.dueMs("other", "theirs")).toBe(Number.NEGATIVE_INFINITY);
  await clock.advance(60_000);
  expect(await writesIn(1)).toBe(10);
  limit.forget("k");
  expect(limit.dueMs("k", "theirs")).toBe(Number.NEGATIVE_INFINITY);
});

it("does not count writes over what this process has written itself", () => {
  const limit = createOverwriteLimit<number>(createVirtualClock());
  for (let i = 0; i < 100; i++) limit.record("k", i, i + 1);
  expect(limit.dueMs("k", 100)).toBe(Number.NEGATIVE_INFINITY);
  expect(limit.dueMs("k", 7)).toBe(Number.NEGATIVE_INFINITY);
});
