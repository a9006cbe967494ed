import type { Registry } from "prom-client";

/** The samples in Prometheus' text format, one a line, without help and types. */
export const samplesIn = (text: string): readonly string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

/** The samples of a registry, one a line; those of one metric when its name is given. */
export async function metricLines(registry: Registry, name = ""): Promise<readonly string[]> {
  const lines = samplesIn(await registry.metrics());
  return name === "" ? lines : lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}
