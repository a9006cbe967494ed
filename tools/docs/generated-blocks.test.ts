import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { annotationKeys, labelKeys, phaseTransitions, taintKeys } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { generatedBlocks } from "./generated-blocks.ts";
import { markdownTable } from "./markdown-table.ts";

const blocks = generatedBlocks((file) =>
  readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8"),
);
const block = (name: string): string => blocks.get(name) ?? "";
const rowsOf = (name: string): readonly string[] => block(name).split("\n").slice(2);
const itemsOf = (name: string): readonly string[] => block(name).split(/^- /m).slice(1);

describe("generated blocks", () => {
  it("have an item with a meaning for every key that other programs read", () => {
    for (const [name, table] of [
      ["labels", labelKeys],
      ["annotations", annotationKeys],
      ["taints", taintKeys],
    ] as const) {
      expect(itemsOf(name)).toHaveLength(Object.keys(table).length);
      for (const item of itemsOf(name)) expect(item).toMatch(/^`[\w./-]+`: \S.{20,}/);
    }
  });

  it("replace links by what they point at", () => {
    expect(block("annotations")).not.toContain("{@link");
    expect(block("annotations").replaceAll(/\s+/g, " ")).toContain(
      "`cluster-autoscaler.kubernetes.io/scale-down-disabled` was set by a controller",
    );
  });

  it("draw an arrow for each transition that changes the phase", () => {
    const arrows = block("phase-diagram").match(/^ {2}\w+ --> \w+: [\d, ]+$/gm) ?? [];
    const numbers = new Set(arrows.flatMap((arrow) => (arrow.split(": ")[1] ?? "").split(", ").map(Number)));
    expect([...numbers].toSorted((a, b) => a - b)).toEqual(phaseTransitions.map(({ row }) => row));
    expect(arrows).toContain("  Pending --> Running: 7");
    expect(arrows).toContain("  AnyPhase --> Terminating: 20");
    expect(arrows.filter((arrow) => /^ {2}(\w+) --> \1:/.test(arrow))).toEqual([]);
  });

  it("list every error code with its meaning, its delays and what an operator does", () => {
    expect(itemsOf("error-codes")).toHaveLength(Object.keys(machineErrorCodes).length);
    for (const item of itemsOf("error-codes").slice(1))
      expect(item).toMatch(/^`\w+` \(\d+\)\n {2}- Meaning: [^]+\n {2}- Retried \(\w+\): [^]+\n {2}- You: /);
    expect(block("error-codes")).toContain(
      "  - Retried (exhausted): creations after 30s to 10m0s, deletions after 30s to 10m0s.",
    );
  });
});

it("the generated delays are those that the machine controller repeats calls with", () => {
  const cells = rowsOf("retry-delays").map((row) => row.split("|").map((cell) => cell.trim()));
  expect(cells.map((row) => row.slice(1, -1))).toEqual([
    ["transient", "1s, doubling up to 5s", "1s, doubling up to 5s", "1s, doubling up to 5s"],
    ["exhausted", "30s, doubling up to 10m0s", "30s, doubling up to 10m0s", "30s, doubling up to 10m0s"],
    ["persistent", "10s, doubling up to 3m0s", "5s", "10s, doubling up to 10m0s"],
  ]);
});

describe("markdownTable", () => {
  it("pads columns, folds lines and keeps bars inside their cell", () => {
    expect(markdownTable(["a", "long heading"], [["x|y", "two\nlines"]])).toBe(
      "| a    | long heading |\n| ---- | ------------ |\n| x\\|y | two lines    |",
    );
  });
});
