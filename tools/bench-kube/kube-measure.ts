import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeResource } from "@millwright/kube";
import { type AnyInformer, type Caches, createCaches } from "./kube-caches.ts";
import { type BenchServer, startBenchServer } from "./kube-server.ts";

/** What a process measured, by name. */
export type Findings = Readonly<Record<string, number>>;

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

/** Connections that a thousand requests in a row open beyond the first. */
export async function measureRequests(): Promise<Findings> {
  const server = await startBenchServer();
  try {
    await sleep(100);
    const before = await server.connections();
    for (let i = 0; i < 1_000; i++) await server.api.get(nodeResource, { name: "a" });
    return { newConnections: (await server.connections()) - before };
  } finally {
    await server.close();
  }
}

/** Time, pauses and memory of a cold list; then what a stream of changes costs. */
export async function measureCaches(kind: Caches): Promise<Findings> {
  const server = await startBenchServer();
  const stop = new AbortController();
  const caches = await createCaches(kind, server.api);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const started = { ms: performance.now(), cpu: process.cpuUsage() };
  delay.enable();
  const turns = watchTurns();
  const running = Promise.all(caches.map((cache) => cache.run(stop.signal)));
  try {
    await Promise.all(caches.map((cache) => cache.synced(stop.signal)));
    delay.disable();
    const longestTurnMs = turns.longestMs();
    const listMs = performance.now() - started.ms;
    const { user, system } = process.cpuUsage(started.cpu);
    await sleep(2_000);
    const watch = { ...(await measureWatch(server, caches, 5_000)), ...(await measureWatch(server, caches, 10_000)) };
    return {
      objects: caches.reduce((sum, { store }) => sum + store.size, 0),
      listMs: Math.round(listMs),
      listCpuMs: Math.round((user + system) / 1_000),
      longestBlockMs: Math.round(delay.max / 1e6),
      longestTurnMs: Math.round(longestTurnMs),
      ...watch,
      heapMiB: mebibytes(process.memoryUsage().heapUsed),
      // In KiB; never less than what the process has ever had.
      mostMemoryMiB: mebibytes(process.resourceUsage().maxRSS * 1024),
    };
  } finally {
    stop.abort(new Error("measured"));
    await running;
    await server.close();
  }
}

/**
 * The most processor time that the main thread took between two looks, a millisecond apart when nothing blocks. Unlike the delay of the event loop it does
 * not grow when other processes take the processor away.
 */
function watchTurns(): { longestMs(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, now.user + now.system - before.user - before.system);
    before = now;
  }, 1);
  return {
    longestMs: () => {
      clearInterval(timer);
      return longest / 1_000;
    },
  };
}

/** Cores of this process while so many changes of pods arrive each second, and how many really did. */
async function measureWatch(server: BenchServer, caches: readonly AnyInformer[], perSecond: number): Promise<Findings> {
  const count = () => caches.reduce((sum, cache) => sum + cache.counts().events, 0);
  await server.sendEvents(perSecond);
  await sleep(1_000);
  const before = { cpu: process.cpuUsage(), events: count(), ms: performance.now() };
  await sleep(4_000);
  const seconds = (performance.now() - before.ms) / 1_000;
  const { user, system } = process.cpuUsage(before.cpu);
  const events = count() - before.events;
  await server.sendEvents(0);
  await sleep(500);
  return {
    [`cores${perSecond}`]: Math.round(((user + system) / 1e6 / seconds) * 100) / 100,
    [`events${perSecond}`]: Math.round(events / seconds),
  };
}
