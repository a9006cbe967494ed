import { createControlCaches } from "@millwright/controllers";
import { seededRandom } from "@millwright/base";
import { machineResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { createFakeApi } from "@millwright/kube/testing";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { metricLines } from "../testing/metric-lines.ts";
import { measureCaches } from "./cache-metrics.ts";

const namespace = "shoot";

it("shows how many objects each cache has, how old its list is and how often it listed, without a request", async () => {
  const registry = new Registry();
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  for (const name of ["a", "b"]) api.seed(machineResource, { metadata: { namespace, name } });
  const stop = new AbortController();
  const caches = createControlCaches({ api, namespace, clock, random: seededRandom(1) });
  measureCaches(registry, { control: caches });
  const values = async () => {
    const lines = await metricLines(registry);
    return lines.flatMap((line) => {
      const [, name, value] =
        /^millwright_cache_(\w+)\{api_server="control",resource="machines"\} (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [`${name} ${value}`];
    });
  };
  await clock.advance(5_000);
  const before = await values();
  expect(before).toEqual(expect.arrayContaining(["objects 0", "synced 0", "lists_total 0", "lost_seconds 5"]));
  expect(before.join()).not.toContain("list_age");
  const running = caches.machines.run(stop.signal);
  await caches.machines.synced(stop.signal);
  await clock.advance(3_000);
  const requests = api.calls.length;
  expect(await values()).toEqual(
    expect.arrayContaining(["objects 2", "synced 1", "lists_total 1", "lost_seconds 0", "list_age_seconds 3"]),
  );
  expect(api.calls).toHaveLength(requests);
  stop.abort(new Error("the test is over"));
  await running;
});
