import { readdir, readFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { expect, test } from "vitest";

const here = import.meta.dirname;
const root = join(here, "..", "..", "..");
const readme = await readFile(join(here, "..", "README.md"), "utf8");

/** Rows of the table of scenarios: number and title, then `file`: name; name; `file`: … */
const rows = readme
  .split("\n")
  .filter((line) => /^\| \d+ /.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()));

test.each(rows)("%s%s names tests that exist", async (_, __, cell = "") => {
  let text = "";
  for (const part of cell.split("; ")) {
    const [, file, name = part] = /^`([^`]+)`: (.*)$/.exec(part) ?? [];
    if (file !== undefined)
      text = await readFile(
        join(...(file.includes("test/") || file.startsWith("packages/") ? [root] : [here]), file),
        "utf8",
      );
    for (const fragment of name.replace(/ \(50 s\)$/, "").split("…")) expect(text).toContain(fragment.trim());
  }
});

test("covers every scenario that concerns the toolkit", () => {
  const numbers = rows.map(([, title = ""]) => Number.parseInt(title, 10));
  expect(numbers).toEqual([1, 2, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 22, 27, 28, 29, 30, 33, 42, 43]);
});

/** Folders as the map lists them, uppermost first. */
const folders = Array.from(readme.matchAll(/^\| `([a-z-]+)\/` /gm), ([, name = ""]) => name);

test("has a map with every folder", async () => {
  const entries = await readdir(here, { withFileTypes: true });
  expect(folders.toSorted()).toEqual(
    entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .toSorted(),
  );
});

/** What the sources of a folder, tests apart, import: a folder, or a file at the top. */
async function importsOf(folder: string): Promise<ReadonlySet<string | undefined>> {
  const entries = await readdir(join(here, folder), { recursive: folder !== "" });
  const sources = entries.filter((file) => /(?<!\.test)\.ts$/.test(file) && join(folder, file) !== "index.ts");
  const imports = sources.map(async (file) => {
    const text = await readFile(join(here, folder, file), "utf8");
    return Array.from(text.matchAll(/ from "(\.[^"]+)"/g), ([, specifier = ""]) =>
      join(folder, dirname(file), specifier).split(sep).at(0),
    );
  });
  return new Set((await Promise.all(imports)).flat());
}

test.each(folders.map((folder, index) => [folder, ["index.ts", ...folders.slice(0, index)]] as const))(
  "has a map in which %s imports nothing from above it",
  async (folder, above) => {
    const imports = await importsOf(folder);
    expect(above.filter((other) => imports.has(other))).toEqual([]);
  },
);

test("has a map in which files at the top import from no folder", async () => {
  const imports = await importsOf("");
  expect(["index.ts", ...folders].filter((folder) => imports.has(folder))).toEqual([]);
});
