/**
 * Measures packages/devcluster against the numbers of issue 3: prints a table, and writes the figures as JSON to the path that is
 * given.
 *
 *   node --conditions=@millwright/source tools/bench-kube/devcluster.ts [report.json]
 *
 * With BENCH_REAL_KUBECONFIG, the kubeconfig of a real API server on this machine, its write throughput is measured in turns with
 * the devcluster's and the two are compared. Exits with 1 when an aim is missed.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crds, machineResource } from "@millwright/core";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  type KubeObject,
  loadKubeConfig,
  nodeResource,
} from "@millwright/kube";
import { fleet, makeMachine, makeNode } from "./fleet.ts";

interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;
const parallel = 16;

const isMet = ({ value, aim }: Figure): boolean =>
  aim === undefined || ("atMost" in aim ? value <= aim.atMost : value >= aim.atLeast);

function start(
  program: string,
  ...args: readonly string[]
): { readonly child: Child; readonly lines: AsyncIterator<string> } {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@millwright/source", path, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

async function forEach(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await run(index);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

/** Creates and changes config maps of about 1 KiB; returns writes per second. */
async function writeThroughput(api: ApiClient, round: string, count: number): Promise<number> {
  const namespace = "default";
  const data = { text: "x".repeat(800) };
  const startedMs = performance.now();
  await forEach(count, async (index) => {
    const name = `bench-${round}-${index}`;
    await api.create(configMaps, { metadata: { name, namespace }, data });
    await api.patch(configMaps, { namespace, name }, { data: { more: "y" } }, { kind: "merge" });
  });
  const perSecond = (count * 2) / ((performance.now() - startedMs) / 1000);
  await forEach(count, (index) => api.delete(configMaps, { namespace, name: `bench-${round}-${index}` }));
  return perSecond;
}

async function compareThroughput(api: ApiClient): Promise<readonly Figure[]> {
  const rounds = [0, 1, 2];
  const realFile = process.env["BENCH_REAL_KUBECONFIG"];
  const real = realFile === undefined ? undefined : createApiClient(await loadKubeConfig({ file: realFile }));
  await writeThroughput(api, "warm-up", 500);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (const round of rounds) {
    ours.push(await writeThroughput(api, String(round), 2_000));
    if (real !== undefined) theirs.push(await writeThroughput(real, String(round), 500));
  }
  await real?.close();
  const own = { name: "writes of the devcluster", value: Math.round(median(ours)), unit: "/s" };
  if (real === undefined) return [own];
  const factor = Math.round((median(ours) / median(theirs)) * 10) / 10;
  return [
    own,
    { name: "writes of the real API server", value: Math.round(median(theirs)), unit: "/s" },
    { name: "devcluster compared with the real one", value: factor, unit: "times", aim: { atLeast: 2 } },
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Stores the fleet as its writers do: machines with their status, nodes with theirs. */
async function storeFleet(api: ApiClient): Promise<void> {
  for (const crd of crds()) await api.create(customResourceDefinitionResource, asObject(crd));
  await forEach(fleet.machines, async (index) => {
    const { metadata, status, ...machine } = asObject(makeMachine(index, 1));
    const { name = "", labels = {} } = metadata;
    await api.create(machineResource, { ...machine, metadata: { name, namespace: "default", labels } });
    await api.patch(
      machineResource,
      { namespace: "default", name },
      { status },
      { kind: "merge", subresource: "status" },
    );
  });
  await forEach(fleet.nodes, async (index) => {
    const { metadata, status, ...node } = asObject(makeNode(index, 1));
    const { name = "", labels = {}, annotations = {} } = metadata;
    await api.create(nodeResource, { ...node, metadata: { name, labels, annotations } });
    await api.patch(nodeResource, { name }, { status }, { kind: "strategic", subresource: "status" });
  });
}

function asObject(value: object): KubeObject {
  const object: KubeObject = JSON.parse(JSON.stringify(value));
  return object;
}

async function residentMebibytes(api: ApiClient): Promise<number> {
  const { body } = await api.request({ method: "GET", path: "/metrics" });
  const bytes = /^process_resident_memory_bytes (\d+)/m.exec(
    typeof body === "string" ? body : JSON.stringify(body),
  )?.[1];
  return Math.round(Number(bytes ?? Number.NaN) / 1024 / 1024);
}

/** So many changes a second, seen by so many watchers: how many they lost, and the rate that was reached. */
async function watchWithoutLoss(api: ApiClient, url: string): Promise<readonly Figure[]> {
  const watchers = 50;
  const perSecond = 1_000;
  const seconds = 10;
  const namespace = "default";
  const objects = 100;
  await forEach(objects, (index) =>
    api.create(configMaps, { metadata: { name: `watched-${index}`, namespace }, data: { n: "" } }),
  );
  const version = (await api.list(configMaps, { namespace })).metadata.resourceVersion ?? "";
  const path = `${url}/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=${version}`;
  const { child, lines } = start("./count-watch-events.ts", path, String(watchers));
  await lines.next();
  const total = perSecond * seconds;
  const startedMs = performance.now();
  await forEach(total, async (index) => {
    const aheadMs = (index / perSecond) * 1000 - (performance.now() - startedMs);
    if (aheadMs > 0) await sleep(aheadMs);
    const ref = { namespace, name: `watched-${index % objects}` };
    await api.patch(configMaps, ref, { data: { n: String(index) } }, { kind: "merge" });
  });
  const rate = total / ((performance.now() - startedMs) / 1000);
  await sleep(1_000);
  child.stdin.write("\n");
  const { value } = await lines.next();
  child.stdin.end();
  const counts: readonly number[] = JSON.parse(String(value));
  const lost = counts.reduce((sum, count) => sum + Math.max(0, total - count), 0);
  return [
    {
      name: `changes with ${watchers} watchers`,
      value: Math.round(rate),
      unit: "/s",
      aim: { atLeast: perSecond * 0.97 },
    },
    { name: `events lost of ${watchers * total}`, value: lost, unit: "", aim: { atMost: 0 } },
  ];
}

async function measure(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const part of [
    (api: ApiClient) => compareThroughput(api),
    async (api: ApiClient): Promise<readonly Figure[]> => {
      const before = await residentMebibytes(api);
      await storeFleet(api);
      const right = await residentMebibytes(api);
      await sleep(5_000);
      const later = await residentMebibytes(api);
      return [
        { name: "RSS of an empty server", value: before, unit: "MiB" },
        { name: "RSS right after 10,000 machines and 10,000 nodes", value: right, unit: "MiB" },
        { name: "RSS 5 s later", value: later, unit: "MiB", aim: { atMost: 200 } },
      ];
    },
    (api: ApiClient, url: string) => watchWithoutLoss(api, url),
  ]) {
    // Each part has a server of its own: what one leaves behind is not measured by the next.
    const { child, lines } = start("./devcluster-server.ts");
    const { value } = await lines.next();
    const url = String(value);
    const api = createApiClient({ server: url });
    try {
      figures.push(...(await part(api, url)));
    } finally {
      await api.close();
      child.kill();
    }
  }
  return figures;
}

const figures = await measure();
const aimText = ({ aim }: Figure): string =>
  aim === undefined ? "" : "atMost" in aim ? `at most ${aim.atMost}` : `at least ${aim.atLeast}`;
process.stdout.write(`${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}\n`);
for (const figure of figures) {
  const mark = figure.aim === undefined ? " " : isMet(figure) ? "✓" : "✗";
  const value = `${figure.value} ${figure.unit}`.trim();
  process.stdout.write(`${mark} ${figure.name.padEnd(52)}${value.padStart(14)}  ${aimText(figure)}\n`);
}
const [, , reportPath] = process.argv;
if (reportPath !== undefined)
  await writeFile(reportPath, `${JSON.stringify({ node: process.version, figures }, undefined, 2)}\n`);
process.exitCode = figures.every(isMet) ? 0 : 1;
