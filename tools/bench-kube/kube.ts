/**
 * Measures packages/kube against its targets: prints a table, and writes the results as JSON to reports/kube.json.
 *
 *   node --conditions=@millwright/source tools/bench-kube/kube.ts [requests] [streamed] [pages] [manager]
 *
 * Measures only the parts that are named, and writes no report then. Each part runs in a fresh process, those with caches three times: of times the best
 * counts, since a machine that does other work only adds to them; of memory the most. Exits with 1 when an aim is missed.
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readCommandLine } from "../command-line.ts";
import { type Figure, isMet, lineOf } from "./devcluster-figure.ts";
import { fleet } from "./fleet.ts";
import type { Findings } from "./kube-measure.ts";

const usage = `usage: node --conditions=@millwright/source tools/bench-kube/kube.ts [requests] [streamed] [pages] [manager]

Measures packages/kube, or the named parts of it; status 1 if an aim is missed.`;

const rounds = 3;
const objects = fleet.machines + fleet.nodes + fleet.pods;

const titles = {
  requests: "one request after the other",
  streamed: "caches, filled by streamed lists",
  pages: "caches, filled in pages",
  manager: "caches of the manager",
} as const;
type Part = keyof typeof titles;
const isPart = (name: string): name is Part => name in titles;

async function runOnce(part: Part): Promise<Findings> {
  const program = fileURLToPath(new URL("./kube-process.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@millwright/source", program, part]);
  return JSON.parse(stdout);
}

/** A figure from the rounds of one finding: `least` for what others can only add to, `most` for what must never be exceeded. */
function figure(name: string, key: string, unit: string, pick: "least" | "most", found: readonly Findings[]): Figure {
  const values = found.map((findings) => findings[key] ?? Number.NaN);
  const value = pick === "least" ? Math.min(...values) : Math.max(...values);
  return { name, value, unit, ...(values.length > 1 ? { rounds: values } : {}) };
}

async function measureRequests(): Promise<readonly Figure[]> {
  const found = [await runOnce("requests")];
  return [
    {
      ...figure("new TLS connections for 1,000 requests in a row", "newConnections", "", "most", found),
      aim: { atMost: 0 },
    },
  ];
}

async function measureCaches(part: Exclude<Part, "requests">): Promise<readonly Figure[]> {
  const found: Findings[] = [];
  for (let round = 0; round < rounds; round++) found.push(await runOnce(part));
  const named = (name: string) => `${name} (${part})`;
  return [
    { ...figure(named("objects cached"), "objects", "", "least", found), aim: { atLeast: objects } },
    { ...figure(named("most memory of the process"), "mostMemoryMiB", "MiB", "most", found), aim: { atMost: 250 } },
    figure(named("heap in use, garbage included"), "heapMiB", "MiB", "most", found),
    {
      ...figure(named("longest block while they are filled"), "longestBlockMs", "ms", "least", found),
      aim: { atMost: 60 },
    },
    figure(named("of that, processor time of the thread"), "longestTurnMs", "ms", "least", found),
    figure(named("time until they are full"), "listMs", "ms", "least", found),
    figure(named("processor time until they are full"), "listCpuMs", "ms", "least", found),
    { ...figure(named("cores at 5,000 changes/s"), "cores5000", "", "least", found), aim: { atMost: 0.5 } },
    { ...figure(named("changes/s that arrived then"), "events5000", "/s", "most", found), aim: { atLeast: 4_500 } },
    figure(named("cores at 10,000 changes/s"), "cores10000", "", "least", found),
  ];
}

const named = readCommandLine({ usage, positionals: [0, Object.keys(titles).length] }).positionals;
const unknown = named.filter((name) => !isPart(name));
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; there are ${Object.keys(titles).join(", ")}`);

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown processor", cores: cpus().length };
process.stdout.write(`kube: ${machine.cores} × ${machine.cpu}, Node ${machine.node}\n`);
const figures: Figure[] = [];
for (const [part, title] of Object.entries(titles)) {
  if (!isPart(part) || (named.length > 0 && !named.includes(part))) continue;
  const found = await (part === "requests" ? measureRequests() : measureCaches(part));
  figures.push(...found);
  process.stdout.write(`\n${title}\n${found.map(lineOf).join("\n")}\n`);
}
if (named.length === 0) {
  const report = fileURLToPath(new URL("./reports/kube.json", import.meta.url));
  await mkdir(fileURLToPath(new URL("./reports/", import.meta.url)), { recursive: true });
  const command = "npm run bench:kube (tools/bench-kube/kube.ts)";
  await writeFile(report, `${JSON.stringify({ command, machine, figures }, undefined, 2)}\n`);
}
process.exitCode = figures.every(isMet) ? 0 : 1;
