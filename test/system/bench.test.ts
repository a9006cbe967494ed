import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Program, startProgram } from "../harness/program.ts";
import { descendantsOf } from "../scale/measure/sample-process.ts";
import { readResults } from "../scale/report/results-files.ts";
import type { RunResult } from "../scale/report/run-result.ts";

const MACHINES = 20;
const TIMEOUT_MS = 150_000;
const main = fileURLToPath(new URL("../scale/main.ts", import.meta.url));

const countOf = ({ requests }: RunResult, verb: string, resource: string): number =>
  requests.find((each) => each.verb === verb && each.resource === resource)?.count ?? 0;

/** The harness on a devcluster and small, so that it cannot rot; it reads /proc. */
describe.runIf(process.platform === "linux")("npm run bench", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-bench-test-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const start = (...args: readonly string[]): Program =>
    startProgram("bench", process.execPath, [
      "--conditions=@millwright/source",
      main,
      "--devcluster",
      "--build=source",
      `--machines=${MACHINES}`,
      `--results=${folder}`,
      ...args,
    ]);

  it("measures the creation of a fleet and its deletion", { timeout: 2 * TIMEOUT_MS }, async () => {
    const bench = start("--scenario=create", "--scenario=scale-to-zero");
    expect(await bench.ended, bench.output()).toBe(0);
    const files = (await readdir(folder)).toSorted();
    const [created, deleted] = files.flatMap((file) => readResults(join(folder, file)));
    if (created === undefined || deleted === undefined) throw new Error(`stored ${files.join(", ")}`);

    expect(created).toMatchObject({
      scenario: "create",
      subject: "millwright",
      build: "source",
      machines: MACHINES,
      server: "devcluster",
    });
    expect(countOf(created, "create", "machines")).toBe(MACHINES);
    expect(created.creation).toMatchObject({ count: MACHINES });
    expect(created.watchEvents["machines"]).toBeGreaterThan(MACHINES);
    expect(created.queues["machine"]?.count).toBeGreaterThan(MACHINES);
    expect(created.otherRequests["bench-world"]).toBeGreaterThan(MACHINES);
    expect(deleted).toMatchObject({ scenario: "scale-to-zero", machines: MACHINES });
    expect(countOf(deleted, "delete", "machines")).toBe(MACHINES);
    expect(countOf(deleted, "create", "machines")).toBe(0);
    expect(deleted.creation).toBeUndefined();
    for (const result of [created, deleted]) {
      expect(result.requestCount).toBe(result.requests.reduce((sum, { count }) => sum + count, 0));
      expect(result.cpuSeconds).toBeGreaterThan(0);
      expect(result.processes[0]?.threads.length).toBeGreaterThan(1);
      expect(result.peakMiB).toBeGreaterThan(50);
      expect(result.eventLoop?.maxMs).toBeGreaterThan(0);
      expect(result.others.map(({ name }) => name)).toEqual(["devcluster", "cloud and nodes"]);
    }
    expect(bench.output()).toContain(`create, ${MACHINES} machines: millwright (source) on devcluster`);
    expect(bench.output()).toMatch(/create \d+, millwright: \d+ s: starting the API server/);
  });

  it("ends everything that it started when it is interrupted", { timeout: TIMEOUT_MS }, async () => {
    const bench = start("--scenario=idle");
    await bench.waitFor(/waiting until|starting the controllers/, TIMEOUT_MS);
    const started = await descendantsOf(bench.child.pid ?? 0);
    // The devcluster, and cloud and nodes.
    expect(started.length).toBeGreaterThanOrEqual(2);
    expect(await bench.stop("SIGINT"), bench.output()).toBe(130);
    expect(started.filter(({ pid }) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses an unknown scenario with status 2", { timeout: TIMEOUT_MS }, async () => {
    const bench = start("--scenario=crate");
    expect(await bench.ended).toBe(2);
    expect(bench.output()).toContain('unknown scenario "crate"; there are create, roll,');
  });
});
