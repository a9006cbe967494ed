import { describe, expect, it } from "vitest";
import { slowStart } from "./slow-start.ts";

/** Runs ten calls, some of them failing; returns the number of calls and the outcome. */
async function run(
  count: number,
  fails: (call: number) => boolean,
): Promise<{ calls: number; error: string | undefined }> {
  let calls = 0;
  try {
    await slowStart(count, async () => {
      const call = ++calls;
      await Promise.resolve();
      if (fails(call)) throw new Error(`call ${call}`);
    });
    return { calls, error: undefined };
  } catch (error) {
    return { calls, error: error instanceof Error ? error.message : undefined };
  }
}

describe("slowStart", () => {
  it.each<[string, number, (call: number) => boolean, { calls: number; error: string | undefined }]>([
    ["makes all calls when all succeed", 10, () => false, { calls: 10, error: undefined }],
    ["makes no call for none", 0, () => true, { calls: 0, error: undefined }],
    ["attempts once what cannot succeed", 10, () => true, { calls: 1, error: "call 1" }],
    ["ends a batch in which one fails, and starts no other", 10, (call) => call === 5, { calls: 7, error: "call 5" }],
    ["throws what failed first of a batch", 10, (call) => call > 3, { calls: 7, error: "call 4" }],
    ["sees a failure in the last batch", 9, (call) => call === 9, { calls: 9, error: "call 9" }],
  ])("%s", async (_, count, fails, expected) => {
    expect(await run(count, fails)).toEqual(expected);
  });

  it("runs the calls of a batch at once, and the batches one after the other", async () => {
    const starts: number[] = [];
    let running = 0;
    await slowStart(8, async () => {
      starts.push(++running);
      await Promise.resolve();
      running--;
    });
    expect(starts).toEqual([1, 1, 2, 1, 2, 3, 4, 1]);
  });

  it("runs no more than sixteen calls at once, however many there are", async () => {
    let running = 0;
    let most = 0;
    await slowStart(1_000, async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    expect(most).toBe(16);
  });
});
