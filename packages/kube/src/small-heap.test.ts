import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Fills a cache of 40 MiB with the garbage of parsing, and returns the additional memory of the process in MiB. */
const program = (first: string) => `
  ${first}
  const kept = [];
  for (let i = 0; i < 60_000; i++) {
    const text = JSON.stringify({ name: "object-" + i, parts: Array.from({ length: 40 }, (_, part) => ({ part, i })) });
    const { name, parts } = JSON.parse(text);
    kept.push({ name, parts: parts.slice(0, 8) });
  }
  const { heapTotal } = process.memoryUsage();
  const v8 = await import("node:v8");
  const young = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
  console.log(JSON.stringify({ heap: heapTotal / 2 ** 20, young: young / 2 ** 20, kept: kept.length }));`;

async function measure(first: string): Promise<{ readonly heap: number; readonly young: number }> {
  const args = ["--conditions=@millwright/source", "--input-type=module", "--eval", program(first)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  return JSON.parse(stdout);
}

test("a process that calls it first takes much less memory for the same objects", async () => {
  const small = await measure(`const { keepHeapSmall } = await import("./small-heap.ts"); keepHeapSmall();`);
  const usual = await measure("");
  expect(small.young).toBeLessThanOrEqual(8);
  expect(usual.young).toBeGreaterThan(16);
  expect(small.heap).toBeLessThan(usual.heap - 16);
});
