import { nodejsMetricNames, requestMetricNames } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { textOfParts } from "./metric-parts.ts";
import { measureProcess } from "./process-metrics.ts";

it("measures CPU, memory and the delay of the event loop under the documented names, and no others", async () => {
  const read = measureProcess([{ host: "api:6443", load: () => ({ limit: 8, inFlight: 3, waiting: 2 }) }, undefined]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const text = await textOfParts(read());
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(new Set(names)).toEqual(new Set<string>([nodejsMetricNames, requestMetricNames].flatMap(Object.values)));
  expect(names).toHaveLength(new Set(names).size);
  expect(text).toContain('millwright_api_requests_waiting{host="api:6443"} 2\n');
  const valueOf = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  expect(valueOf("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(valueOf("process_resident_memory_bytes")).toBeGreaterThan(1e7);
  // Each read begins a new measurement, and the delay is measured ten times a second: not at all in a shorter time, or while the busy computer runs this process only once.
  await expect
    .poll(
      async () => {
        const [, lag] = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await textOfParts(read())) ?? [];
        return Number(lag);
      },
      { interval: 350, timeout: 20_000 },
    )
    .toBeGreaterThan(0.001);
});
