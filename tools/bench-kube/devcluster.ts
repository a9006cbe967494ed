/**
 * Measures packages/devcluster against its targets: prints a table, and writes the results as JSON to
 * reports/devcluster.json. See README.md for what is measured.
 *
 *   node --conditions=@millwright/source tools/bench-kube/devcluster.ts [writes] [memory] [watches]
 *
 * Measures only the parts that are named, and writes no report then. Exits with 1 when an aim is missed.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "../command-line.ts";
import { type Figure, isMet, lineOf } from "./devcluster-figure.ts";
import { measureMemory } from "./devcluster-memory.ts";
import { measureWatches } from "./devcluster-watches.ts";
import { measureWrites } from "./devcluster-writes.ts";

const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  writes: measureWrites,
  memory: measureMemory,
  watches: measureWatches,
};

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown processor", cores: cpus().length };
const usage = `usage: node --conditions=@millwright/source tools/bench-kube/devcluster.ts [writes] [memory] [watches]

Measures packages/devcluster, or the named parts of it; status 1 if an aim is missed.`;
const named = readCommandLine({ usage, positionals: [0, Object.keys(parts).length] }).positionals;
const unknown = named.filter((name) => !(name in parts));
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`);

process.stdout.write(`devcluster: ${machine.cores} × ${machine.cpu}, Node ${machine.node}\n`);
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const found = await measure();
  figures.push(...found);
  process.stdout.write(`${found.map(lineOf).join("\n")}\n`);
}
if (named.length === 0) {
  const report = fileURLToPath(new URL("./reports/devcluster.json", import.meta.url));
  await mkdir(fileURLToPath(new URL("./reports/", import.meta.url)), { recursive: true });
  const command = "npm run bench:kube (tools/bench-kube/devcluster.ts)";
  await writeFile(report, `${JSON.stringify({ command, machine, figures }, undefined, 2)}\n`);
}
process.exitCode = figures.every(isMet) ? 0 : 1;
