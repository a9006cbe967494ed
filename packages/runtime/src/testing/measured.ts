import type { ObjectMeta } from "@millwright/core";
import { Registry } from "prom-client";
import { measureObjects, type ObjectGauge } from "../metrics/object-gauges.ts";
import { metricLines } from "./metric-lines.ts";

/** The samples that gauges give of objects, by the name of the metric without the prefix; `name` and `namespace` are taken out. */
export async function measured<T extends { readonly metadata: ObjectMeta }>(
  gauges: readonly ObjectGauge<T>[],
  object: T,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const registry = new Registry();
  const cache = { hasSynced: () => true, store: { size: 1, list: () => [object] } };
  measureObjects(registry, { cache, items: { name: "items", help: "Items." }, gauges }, () => {
    throw new Error("could not be measured");
  });
  const found: Record<string, string[]> = {};
  const own = `name="${object.metadata.name}",namespace="${object.metadata.namespace ?? ""}"`;
  for (const line of await metricLines(registry)) {
    const [, name = "", labels = "", value = ""] = /^mcm_(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === "") continue;
    if (!labels.startsWith(own)) throw new Error(`${line} does not start with ${own}`);
    (found[name] ??= []).push([labels.slice(own.length).replace(/^,/, ""), value].filter(Boolean).join(" "));
  }
  return found;
}
