import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { createFlowMetrics, type MachineLabels } from "./flow-metrics.ts";

const hourMs = 3_600_000;
const labelsOf = (pool: string, zone = "a"): MachineLabels => ({
  namespace: "shoot",
  machine_deployment: pool,
  instance_type: "m",
  zone,
});

function setUp() {
  const registry = new Registry();
  const there = new Set<string>();
  let ms = 0;
  const metrics = createFlowMetrics(
    registry,
    ({ machine_deployment }) => there.has(machine_deployment),
    () => ms,
  );
  const pools = async (): Promise<readonly string[]> => {
    const lines = await metricLines(registry);
    return [...new Set(lines.flatMap((line) => /machine_deployment="([^"]*)"/.exec(line)?.[1] ?? []))];
  };
  return {
    metrics,
    there,
    pools,
    lines: (name: string) => metricLines(registry, name),
    at: (now: number) => (ms = now),
  };
}

describe("series of what happens to machines", () => {
  it("stay while their deployment is there, and go an hour after their last use", async () => {
    const { metrics, there, pools, at } = setUp();
    there.add("kept");
    for (const pool of ["kept", "gone"]) {
      metrics.failedToJoin(labelsOf(pool));
      for (const step of ["create", "join", "drain", "delete"] as const) metrics.took(labelsOf(pool), step, 1_000);
    }
    at(hourMs - 1);
    expect(await pools()).toEqual(["kept", "gone"]);
    at(hourMs);
    expect(await pools()).toEqual(["kept"]);
  });

  it("of a deployment stay as long as those of any of its zones", async () => {
    const { metrics, lines, at } = setUp();
    metrics.took(labelsOf("gone", "a"), "delete", 1_000);
    at(hourMs - 1);
    metrics.took(labelsOf("gone", "b"), "delete", 2_000);
    metrics.took(labelsOf("gone", "b"), "drain", 2_000);
    at(hourMs);
    expect(await lines("mcm_machine_delete_duration_seconds")).toEqual([expect.stringContaining('zone="b"} 2')]);
    expect(await lines("millwright_machine_step_duration_seconds_count")).toEqual([
      expect.stringContaining('step="delete"} 2'),
      expect.stringContaining('step="drain"} 1'),
    ]);
    expect(await lines("mcm_machine_drain_duration_seconds")).toHaveLength(1);
  });

  it("are bounded, whatever is written into existing machines", async () => {
    const { metrics, there, pools, lines } = setUp();
    for (let at = 0; at < 1_500; at++) {
      there.add(`pool-${at}`);
      metrics.took(labelsOf(`pool-${at}`), "create", 1_000);
      metrics.failedToJoin(labelsOf("one", `zone-${at}`));
    }
    expect(await lines("mcm_machine_num_failed_join")).toHaveLength(1_000);
    expect(await lines("mcm_machine_create_duration_seconds")).toHaveLength(500);
    const shown = await pools();
    expect(shown).toHaveLength(1_001);
    expect(shown).toContain("pool-1499");
    expect(shown).not.toContain("pool-0");
  });
});
