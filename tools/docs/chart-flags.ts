import { createProgram } from "../../packages/cli/src/program.ts";

/** Flags that other values of the chart set, and flags with which no pod could run. */
const excluded: ReadonlySet<string> = new Set([
  "all-namespaces",
  "context",
  "kubeconfig",
  "print-config",
  "provider",
  "control-kubeconfig",
  "target-kubeconfig",
  "target-kubeconfig-allow",
  "namespace",
  "log-level",
  "metrics-authorization",
  "port",
]);

/** The flags of `millwright run` that the value `flags` may have, without dashes. */
function chartFlags(): readonly string[] {
  const run = createProgram(() => undefined).commands.find((command) => command.name() === "run");
  const names = run?.options.flatMap(({ long }) => long?.replace(/^--/, "") ?? []) ?? [];
  return names.filter((name) => !excluded.has(name)).toSorted();
}

/** The names of flags in the schema of the chart's values. */
const flagNames = /("flags": \{[^[]*"propertyNames": \{\s*"enum": \[)[^\]]*(?=\])/;

/** The schema of the chart's values with the names of all flags, so that Helm refuses what the process would refuse when it starts. */
export function withFlagNames(schema: string): string {
  if (!flagNames.test(schema)) throw new Error("the schema has no names of flags");
  const lines = chartFlags().map((name) => `\n          ${JSON.stringify(name)}`);
  return schema.replace(flagNames, (_, start: string) => `${start}${lines.join(",")}\n        `);
}
