import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const here = import.meta.dirname;
const root = join(here, "..", "..", "..");
const readme = await readFile(join(here, "..", "README.md"), "utf8");

/** Rows of the table of failures: title, then `file`: name; name; `file`: … */
const [, section = ""] = readme.split("## Failures and their tests");
const rows = section
  .split(/^## /m, 1)
  .join("")
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes(".test.ts`"))
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

test("has a row for each failure of an API server that the toolkit withstands", () => {
  expect(rows).toHaveLength(24);
});
