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

async function measure(releaseMemory: () => void): Promise<{ readonly heapMiB: number; readonly handles: number }> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  releaseMemory();
  collectGarbage();
  return { heapMiB: process.memoryUsage().heapUsed / mebibyte, handles: process.getActiveResourcesInfo().length };
}

/** Rounds of calls: caches of bounded size may fill up in all but the last. */
const rounds = 6;

/** What a round of calls leaves; undefined if it leaves nothing. */
async function leakOf(t: CheckContext, calls: number, parallel: number): Promise<string | undefined> {
  const release = t.fixture.releaseMemory ?? (() => undefined);
  const before = await measure(release);
  await callOften(t, calls, parallel);
  const after = await measure(release);
  const growthMiB = after.heapMiB - before.heapMiB;
  const what = `${calls + parallel} calls`;
  if (growthMiB >= Math.max(leastGrowthMiB, before.heapMiB / 10))
    return `${what} let the heap grow from ${Math.round(before.heapMiB)} by ${Math.round(growthMiB)} MiB, in each of ${rounds} rounds.`;
  const handles = after.handles - before.handles;
  return handles > mostHandles ? `${what} leave ${handles} more open handles, in each of ${rounds} rounds.` : undefined;
}

/** Checks of many calls. */
export const loadChecks = {
  "load.no-leaks": async (t) => {
    const { loadCalls } = t.session.profile;
    const parallel = loadCalls / 5;
    await callOften(t, loadCalls / 10, parallel);
    let leak: string | undefined = "";
    for (let round = 0; round < rounds && leak !== undefined; round++) leak = await leakOf(t, loadCalls, parallel);
    expect(leak === undefined, leak ?? "");
  },
} as const satisfies CheckTable;
