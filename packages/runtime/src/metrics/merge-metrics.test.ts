import { createVirtualClock } from "@millwright/core/testing";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { mergeMetrics } from "./merge-metrics.ts";
import { textOfParts } from "./metric-parts.ts";

/** Parts with as few lines as possible. */
async function* partsOf(text: string): AsyncGenerator<string> {
  yield* text.match(/.*\n|.+$/g) ?? [];
}

const merge = (texts: ReadonlyMap<string, string>): Promise<string> => {
  const parts = [...texts].map(([namespace, text]) => [namespace, partsOf(text)] as const);
  return textOfParts(mergeMetrics(new Map(parts), { clock: createVirtualClock() }));
};

const metricsOf = async (count: number): Promise<string> => {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "calls_total", help: "Calls.", labelNames: ["driver"], registers }).inc({ driver: "a" }, count);
  new Gauge({ name: "plain", help: "No labels.", registers }).set(count);
  new Gauge({ name: "objects", help: "Objects.", labelNames: ["name", "namespace"], registers }).set(
    { name: "m", namespace: `own-${count}` },
    count,
  );
  new Histogram({ name: "seconds", help: "Times.", buckets: [1], registers }).observe(count);
  return registry.metrics();
};

test("gives each sample its namespace once, and each metric its help once", async () => {
  const merged = await merge(
    new Map([
      ["a", await metricsOf(1)],
      ["b", await metricsOf(2)],
    ]),
  );
  expect(merged.split("\n").filter((line) => line !== "")).toEqual([
    "# HELP calls_total Calls.",
    "# TYPE calls_total counter",
    'calls_total{namespace="a",driver="a"} 1',
    'calls_total{namespace="b",driver="a"} 2',
    "# HELP plain No labels.",
    "# TYPE plain gauge",
    'plain{namespace="a"} 1',
    'plain{namespace="b"} 2',
    "# HELP objects Objects.",
    "# TYPE objects gauge",
    'objects{name="m",namespace="own-1"} 1',
    'objects{name="m",namespace="own-2"} 2',
    "# HELP seconds Times.",
    "# TYPE seconds histogram",
    'seconds_bucket{namespace="a",le="1"} 1',
    'seconds_bucket{namespace="a",le="+Inf"} 1',
    'seconds_sum{namespace="a"} 1',
    'seconds_count{namespace="a"} 1',
    'seconds_bucket{namespace="b",le="1"} 0',
    'seconds_bucket{namespace="b",le="+Inf"} 1',
    'seconds_sum{namespace="b"} 2',
    'seconds_count{namespace="b"} 1',
  ]);
});

test("is not confused by labels whose values look like labels", async () => {
  const text = '# HELP x X.\n# TYPE x gauge\nx{reason="a} b,namespace=\\"c\\""} 1 1700000000\n';
  expect(await merge(new Map([["n", text]]))).toContain(
    'x{namespace="n",reason="a} b,namespace=\\"c\\""} 1 1700000000',
  );
});

test("has what only one namespace has, and nothing without metrics", async () => {
  expect(
    await merge(
      new Map([
        ["a", ""],
        ["b", "# HELP x X.\n# TYPE x gauge\nx 1\n"],
      ]),
    ),
  ).toBe('# HELP x X.\n# TYPE x gauge\nx{namespace="b"} 1\n');
});
