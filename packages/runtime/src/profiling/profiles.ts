import { Session } from "node:inspector/promises";
import type { Readable } from "node:stream";
import { getHeapSnapshot, getHeapSpaceStatistics, getHeapStatistics } from "node:v8";

/**
 * Records which functions of the main thread use CPU time.
 *
 * @param untilEnd resolves when the recording should end
 * @returns a document in the form of `.cpuprofile` files, as JSON
 */
export async function recordCpuProfile(untilEnd: Promise<void>): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await untilEnd;
    const { profile } = await session.post("Profiler.stop");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

/** How much memory is in use, by space, as JSON. Takes no time. */
export const readHeapStatistics = (): string =>
  `${JSON.stringify({ process: process.memoryUsage(), heap: getHeapStatistics(), spaces: getHeapSpaceStatistics() }, undefined, 2)}\n`;

/** All objects of the heap, in the form of `.heapsnapshot` files. Blocks the event loop for seconds, and has all texts of the process, also secrets. */
export const takeHeapSnapshot = (): Readable => getHeapSnapshot();
