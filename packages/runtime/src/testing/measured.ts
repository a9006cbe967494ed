import type { ObjectMeta } from "@millwright/core/machine-api";
import { type ObjectGauge, type ObjectMetrics, writeObjectMetrics } from "../metrics/object-gauges.ts";
import { samplesIn } from "./metric-lines.ts";

/** The samples of the gauges of a kind, one a line. */
export function objectLines<T extends { readonly metadata: ObjectMeta }>(metrics: ObjectMetrics<T>): readonly string[] {
  return samplesIn([...writeObjectMetrics(metrics)].join(""));
}

/** The samples that gauges give of objects, by the name of the metric without the prefix; `name` and `namespace` are taken out. */
export function measured<T extends { readonly metadata: ObjectMeta }>(
  gauges: readonly ObjectGauge<T>[],
  object: T,
): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  const own = `name="${object.metadata.name}",namespace="${object.metadata.namespace ?? ""}"`;
  const lines = objectLines({
    cache: { hasSynced: () => true, store: { list: () => [object] } },
    items: { name: "items", help: "Items." },
    gauges,
    onFailure() {
      throw new Error("could not be measured");
    },
  });
  for (const line of lines) {
    const [, name = "", labels = "", value = ""] = /^mcm_(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === "") continue;
    if (!labels.startsWith(own)) throw new Error(`${line} does not start with ${own}`);
    (found[name] ??= []).push([labels.slice(own.length).replace(/^,/, ""), value].filter(Boolean).join(" "));
  }
  return found;
}
