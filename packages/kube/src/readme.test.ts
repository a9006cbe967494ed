import { readFile } from "node:fs/promises";
import { join } from "node:path";
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
