import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/project/fault-coverage.md"), "utf8");
const rows = page.split("\n").filter((line) => /^\| (?!fault |---)/.test(line));

/** The title and the file of each test that a row names. */
const testsOf = (row: string): readonly { readonly title: string; readonly file: string }[] =>
  [...row.matchAll(/\[([^\]]+)\]\((?:\.\.\/)+([^)]+\.test\.ts)\)/g)].map(([, title = "", file = ""]) => ({
    title,
    file,
  }));

/** The faults of the simulation that a row names. */
const faultsOf = (row: string): readonly string[] =>
  [...(row.split("|").at(-2) ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

const faultFolder = join(root, "test/simulation/faults");
const faultSources = readdirSync(faultFolder)
  .map((file) => readFileSync(join(faultFolder, file), "utf8"))
  .join("\n");

describe("the page of faults and their tests", () => {
  it("has a test for each fault", () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter((row) => testsOf(row).length === 0)).toEqual([]);
  });

  it("names tests that exist", () => {
    const missing = rows
      .flatMap(testsOf)
      .filter(({ title, file }) => !readFileSync(join(root, file), "utf8").includes(title));
    expect(missing).toEqual([]);
  });

  it("names faults that the simulation has", () => {
    const isKnown = (name: string): boolean => new RegExp(`^  (?:"${name}"|${name}): `, "m").test(faultSources);
    expect(rows.flatMap(faultsOf).filter((name) => !isKnown(name))).toEqual([]);
  });
});
