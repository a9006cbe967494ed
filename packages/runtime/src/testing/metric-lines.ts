import type { Registry } from "prom-client";

/** The samples of a registry, one a line, without help and types; those of one metric when its name is given. */
export async function metricLines(registry: Registry, name = ""): Promise<readonly string[]> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return name === "" ? lines : lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}
