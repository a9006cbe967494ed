import { setTimeout as delay } from "node:timers/promises";

/** Longest time for a count to settle, milliseconds. */
const LIMIT_MS = 60_000;

/**
 * Waits until a count has not changed for a while: delayed writes come late on a busy computer. Resolves with the count; rejects when it
 * does not settle within a minute.
 */
export async function untilQuiet(count: () => number, quietMs = 2_000): Promise<number> {
  const deadline = performance.now() + LIMIT_MS;
  let last = count();
  for (let sinceMs = performance.now(); performance.now() - sinceMs < quietMs;) {
    await delay(100);
    const now = count();
    if (now === last) continue;
    if (performance.now() > deadline) throw new Error(`still counting after ${LIMIT_MS} ms: ${last}, then ${now}`);
    last = now;
    sinceMs = performance.now();
  }
  return last;
}
