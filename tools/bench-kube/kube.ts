/**
 * Measures packages/kube against the numbers of issue 3: prints a table, and writes the figures as JSON to the path that is given.
 *
 *   MALLOC_ARENA_MAX=2 node --max-semi-space-size=4 --conditions=@millwright/source tools/bench-kube/kube.ts [report.json]
 *
 * The flags keep the engine from holding on to memory for garbage; without them the same objects take the same heap, and the process
 * some 150 MiB more.
 *
 * Exits with 1 when an aim is missed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { machineResource, systemClock, systemRandom } from "@millwright/core";
import {
  type ApiClient,
  createApiClient,
  createInformer,
  type Informer,
  isRecord,
  type KubeObject,
  nodeResource,
  podResource,
} from "@millwright/kube";
import { fleet } from "./fleet.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most that is allowed, or the least for rates. */
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
}

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
const isMet = ({ value, aim }: Figure): boolean =>
  aim === undefined || ("atMost" in aim ? value <= aim.atMost : value >= aim.atLeast);

/** Collects all garbage, so that what is left is in use. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
}

async function startServer(): Promise<{ readonly child: ChildProcess; readonly url: string; readonly cert: string }> {
  const program = fileURLToPath(new URL("./serve.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@millwright/source", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the server has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const { port, cert }: { port: number; cert: string } = JSON.parse(line);
    return { child, url: `https://127.0.0.1:${port}`, cert };
  }
  throw new Error("the server ended before it listened");
}

async function countsOf(api: ApiClient): Promise<{ readonly sent: number; readonly connections: number }> {
  const { body } = await api.request({ method: "GET", path: "/counts" });
  if (!isRecord(body)) throw new Error("the server counts nothing");
  return { sent: Number(body["sent"]), connections: Number(body["connections"]) };
}

/** The longest time, in milliseconds, for which the event loop did nothing else, while something runs. */
async function longestBlock(run: () => Promise<void>): Promise<{ readonly blockMs: number; readonly tookMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedMs = performance.now();
  await run();
  const tookMs = performance.now() - startedMs;
  delay.disable();
  return { blockMs: delay.max / 1e6, tookMs };
}

async function cacheAll(api: ApiClient, streamingList: boolean, signal: AbortSignal) {
  const common = { api, clock: systemClock, random: systemRandom, streamingList };
  const owner = ({
    metadata,
  }: {
    readonly metadata: { readonly ownerReferences?: readonly { readonly uid: string }[] };
  }) => metadata.ownerReferences?.[0]?.uid;
  const nodeName = ({ spec }: KubeObject) =>
    isRecord(spec) && typeof spec["nodeName"] === "string" ? spec["nodeName"] : undefined;
  const machines = createInformer({ ...common, type: machineResource, indexes: { owner } });
  const nodes = createInformer({ ...common, type: nodeResource });
  const pods = createInformer<KubeObject, "node">({ ...common, type: podResource, indexes: { node: nodeName } });
  const informers = [machines, nodes, pods] as const;
  const running = Promise.all(informers.map((informer) => informer.run(signal)));
  await Promise.all(informers.map((informer) => informer.synced(signal)));
  return { machines, nodes, pods, running };
}

/** CPU of this process, in cores, while so many events arrive each second. */
async function measureWatch(api: ApiClient, pods: Pick<Informer<KubeObject>, "counts">, perSecond: number) {
  await api.request({ method: "GET", path: "/rate", query: { perSecond } });
  await sleep(1_000);
  const before = { cpu: process.cpuUsage(), events: pods.counts().events, ms: performance.now() };
  await sleep(4_000);
  const seconds = (performance.now() - before.ms) / 1_000;
  const { user, system } = process.cpuUsage(before.cpu);
  const events = pods.counts().events - before.events;
  await api.request({ method: "GET", path: "/rate", query: { perSecond: 0 } });
  return { cores: (user + system) / 1e6 / seconds, perSecond: events / seconds };
}

async function measure(): Promise<readonly Figure[]> {
  const { child, url, cert } = await startServer();
  const api = createApiClient({ server: url, tls: { ca: cert } });
  try {
    const figures: Figure[] = [];
    const stop = new AbortController();
    let longestGcMs = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longestGcMs = Math.max(longestGcMs, duration);
    });
    observer.observe({ entryTypes: ["gc"] });

    await api.request({ method: "GET", path: "/warm-up" });
    await sleep(100);
    const connectionsBefore = (await countsOf(api)).connections;
    for (let i = 0; i < 1_000; i++) await api.get(nodeResource, { name: "a" });
    figures.push({
      name: "new TLS connections for 1,000 requests in a row",
      value: (await countsOf(api)).connections - connectionsBefore,
      unit: "",
      aim: { atMost: 0 },
    });

    let caches: Awaited<ReturnType<typeof cacheAll>> | undefined;
    const isStreaming = process.env["BENCH_PAGES"] === undefined;
    const { blockMs, tookMs } = await longestBlock(async () => {
      caches = await cacheAll(api, isStreaming, stop.signal);
    });
    if (caches === undefined) throw new Error("nothing was cached");
    const { machines, nodes, pods, running } = caches;
    const cached = machines.store.size + nodes.store.size + pods.store.size;
    figures.push(
      { name: `cold list (${isStreaming ? "streamed" : "pages"})`, value: Math.round(tookMs), unit: "ms" },
      { name: "longest block of the event loop in it", value: Math.round(blockMs), unit: "ms", aim: { atMost: 60 } },
      { name: "longest garbage collection in it", value: Math.round(longestGcMs), unit: "ms" },
      { name: "objects cached", value: cached, unit: "", aim: { atLeast: fleet.machines + fleet.nodes + fleet.pods } },
    );
    figures.push({ name: "RSS right after the list", value: mebibytes(process.memoryUsage.rss()), unit: "MiB" });
    await sleep(5_000);
    figures.push({
      name: "RSS 5 s later",
      value: mebibytes(process.memoryUsage.rss()),
      unit: "MiB",
      aim: { atMost: 250 },
    });
    collectGarbage();
    figures.push({ name: "heap in use", value: mebibytes(process.memoryUsage().heapUsed), unit: "MiB" });

    for (const perSecond of [2_500, 5_000, 10_000]) {
      const { cores, perSecond: seen } = await measureWatch(api, pods, perSecond);
      figures.push({
        name: `cores at ${Math.round(seen / 100) * 100} watch events/s`,
        value: Math.round(cores * 100) / 100,
        unit: "",
        ...(perSecond === 5_000 ? { aim: { atMost: 0.5 } } : {}),
      });
    }
    figures.push({ name: "RSS at the end", value: mebibytes(process.memoryUsage.rss()), unit: "MiB" });
    observer.disconnect();
    stop.abort(new Error("measured"));
    await running;
    return figures;
  } finally {
    await api.close();
    child.kill();
  }
}

const figures = await measure();
const aimOf = ({ aim }: Figure): string =>
  aim === undefined ? "" : "atMost" in aim ? `≤ ${aim.atMost}` : `≥ ${aim.atLeast}`;
for (const figure of figures) {
  const value = `${figure.value} ${figure.unit}`.trim();
  process.stdout.write(
    `${figure.name.padEnd(52)} ${value.padStart(12)}  ${aimOf(figure).padEnd(10)} ${isMet(figure) ? "" : "MISSED"}\n`,
  );
}
const [, , report] = process.argv;
if (report !== undefined) {
  const machine = {
    node: process.version,
    flags: process.execArgv,
    arenas: process.env["MALLOC_ARENA_MAX"] ?? "",
    cpu: cpus()[0]?.model ?? "",
    cores: cpus().length,
  };
  await writeFile(report, `${JSON.stringify({ command: "tools/bench-kube/kube.ts", machine, figures }, null, 2)}\n`);
}
process.exitCode = figures.every(isMet) ? 0 : 1;
