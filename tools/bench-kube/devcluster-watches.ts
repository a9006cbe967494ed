import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "./devcluster-figure.ts";
import { forEach, startProgram, withServer } from "./devcluster-process.ts";

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;
const watchers = 50;
const perSecond = 1_000;
const seconds = 10;
const objects = 100;

/** So many changes a second, seen by so many watchers: the rate that was reached, and how many events were lost. */
export function measureWatches(): Promise<readonly Figure[]> {
  return withServer({}, async (api, url) => {
    const namespace = "default";
    await forEach(objects, (index) =>
      api.create(configMaps, { metadata: { name: `watched-${index}`, namespace }, data: { n: "" } }),
    );
    const version = (await api.list(configMaps, { namespace })).metadata.resourceVersion ?? "";
    const path = `${url}/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=${version}`;
    const counter = startProgram("./count-watch-events.ts", [path, String(watchers)]);
    await counter.line();
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
    counter.child.stdin.write("\n");
    const counts: readonly number[] = JSON.parse(await counter.line());
    counter.child.stdin.end();
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
  });
}
