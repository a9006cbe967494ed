import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/core/testing";
import { createController, done } from "@millwright/kube";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { measureControllers } from "./controller-metrics.ts";

it("shows queues and reconciles under the names of client-go and controller-runtime", async () => {
  const registry = new Registry();
  const clock = createVirtualClock();
  const stop = new AbortController();
  const controller = createController({
    name: "machine",
    workers: 1,
    clock,
    random: seededRandom(1),
    async reconcile(key) {
      await clock.sleep(2_000);
      if (key === "broken") throw new Error("broken");
      return done;
    },
  });
  measureControllers(registry, [controller]);
  const value = async (series: string): Promise<string | undefined> =>
    (await metricLines(registry)).find((line) => line.startsWith(`${series} `))?.slice(series.length + 1);
  const queue = '{name="machine",controller="machine"}';
  expect(await value(`workqueue_adds_total${queue}`)).toBe("0");
  expect(await value('controller_runtime_reconcile_errors_total{controller="machine"}')).toBe("0");
  const running = controller.start(stop.signal);
  for (const key of ["good", "broken", "later"]) controller.enqueue(key);
  await clock.advance(3_000);
  // The first is done, the second with the worker for a second, the third waits.
  expect(await value(`workqueue_adds_total${queue}`)).toBe("3");
  expect(await value(`workqueue_depth${queue}`)).toBe("1");
  expect(await value(`workqueue_longest_running_processor_seconds${queue}`)).toBe("1");
  expect(await value(`workqueue_unfinished_work_seconds${queue}`)).toBe("1");
  expect(await value('controller_runtime_active_workers{controller="machine"}')).toBe("1");
  expect(await value('controller_runtime_max_concurrent_reconciles{controller="machine"}')).toBe("1");
  expect(await value(`workqueue_queue_duration_seconds_sum${queue}`)).toBe("2");
  await clock.advance(1_000);
  expect(await value(`workqueue_retries_total${queue}`)).toBe("1");
  expect(await value('controller_runtime_reconcile_total{controller="machine",result="success"}')).toBe("1");
  expect(await value('controller_runtime_reconcile_total{controller="machine",result="error"}')).toBe("1");
  expect(await value('controller_runtime_reconcile_errors_total{controller="machine"}')).toBe("1");
  expect(await value('controller_runtime_reconcile_time_seconds_sum{controller="machine"}')).toBe("4");
  expect(await value(`workqueue_work_duration_seconds_count${queue}`)).toBe("2");
  stop.abort(new Error("the test is over"));
  await clock.advance(2_000);
  await running;
});
