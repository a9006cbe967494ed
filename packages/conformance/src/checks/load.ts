import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type CheckContext, type CheckTable, expect, expectFailure } from "./check.ts";

const mebibyte = 1_048_576;
/** Growth that any process has. */
const leastGrowthMiB = 8;
const mostHandles = 5;

/** Runs the garbage collector, which Node hides behind a flag. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") Reflect.apply(collect, undefined, []);
}

/** Calls `getMachineStatus` one after another, and then as a burst. */
async function callOften(t: CheckContext, sequential: number, parallel: number): Promise<void> {
  const machine = t.machine();
  const call = () => expectFailure("getMachineStatus of a machine without VM", t.caller.status(machine), "NotFound");
  for (let index = 0; index < sequential; index++) await call();
  await Promise.all(Array.from({ length: parallel }, call));
}

async function measure(): Promise<{ readonly heapMiB: number; readonly handles: number }> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  return { heapMiB: process.memoryUsage().heapUsed / mebibyte, handles: process.getActiveResourcesInfo().length };
}

/** Checks of many calls. */
export const loadChecks = {
  "load.no-leaks": async (t) => {
    const { loadCalls } = t.session.profile;
    const parallel = loadCalls / 5;
    await callOften(t, loadCalls / 10, parallel);
    const before = await measure();
    await callOften(t, loadCalls, parallel);
    const after = await measure();
    const growthMiB = after.heapMiB - before.heapMiB;
    expect(
      growthMiB < Math.max(leastGrowthMiB, before.heapMiB / 10),
      `${loadCalls + parallel} calls let the heap grow from ${Math.round(before.heapMiB)} by ${Math.round(growthMiB)} MiB.`,
    );
    expect(
      after.handles <= before.handles + mostHandles,
      `${loadCalls + parallel} calls leave ${after.handles - before.handles} more open handles.`,
    );
  },
} as const satisfies CheckTable;
