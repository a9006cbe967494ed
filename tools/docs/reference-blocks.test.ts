import { isRecord } from "@millwright/base";
import { crds } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/src/program.ts";
import { referenceBlocks } from "./reference-blocks.ts";

const blocks = referenceBlocks();
const textOf = (start: string): string =>
  blocks
    .filter(([name]) => name.startsWith(start))
    .map(([, text]) => text)
    .join("\n");

/** Names of all fields below a schema. */
function namesOf(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [];
  const fields = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  return [...fields.flatMap(([name, field]) => [name, ...namesOf(field)]), ...namesOf(schema["items"])];
}

describe("the tables of the API", () => {
  it("have a row for each field of the four kinds", () => {
    const rows = new Set(
      [...textOf("api-").matchAll(/^\| `([\w.[\]]+)`/gm)].map(([, path = ""]) => path.split(".").at(-1)),
    );
    const fields = crds().flatMap(({ spec }) => namesOf(spec.versions[0]?.schema.openAPIV3Schema));
    const parts = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);
    expect(fields.length).toBeGreaterThan(200);
    expect(fields.filter((name) => !parts.has(name) && !rows.has(name))).toEqual([]);
  });

  it("show shapes of several kinds once", () => {
    expect(textOf("api-machine-deployment-spec")).toMatch(/`spec\.template\.spec` +\| \[spec of a Machine\]/);
    expect(textOf("api-").match(/`[\w.[\]]*matchLabels`/g)).toHaveLength(1);
    expect(textOf("api-").match(/`[\w.[\]]*drainTimeout`/g)).toHaveLength(1);
    expect(textOf("api-").match(/`[\w.[\]]*errorCode`/g)).toHaveLength(1);
  });

  it("have defaults and rules", () => {
    expect(textOf("api-machine-spec")).toMatch(/`spec\.healthTimeout` +\| text +\| `--machine-health-timeout` +\|/);
    expect(textOf("api-machine-spec")).toContain("Rule: spec.providerID cannot be changed to another VM");
  });
});

describe("the tables of flags", () => {
  it("have each flag of the help once, with its environment variable", () => {
    const run = createProgram(() => undefined).commands.find((command) => command.name() === "run");
    const shown = run?.options.filter(({ hidden }) => !hidden).map(({ flags }) => flags) ?? [];
    const rows = [...textOf("flags").matchAll(/^\| `([^`]+)`/gm)].map(([, flag = ""]) => flag.replaceAll("\\|", "|"));
    expect(rows.toSorted()).toEqual(shown.toSorted());
    expect(textOf("flags")).toMatch(
      /`--machine-drain-timeout <duration>` +\| `2h0m0s` +\| `MILLWRIGHT_MACHINE_DRAIN_TIMEOUT` +\|/,
    );
    expect(textOf("flags")).not.toContain("MILLWRIGHT_CONFIG");
  });
});
