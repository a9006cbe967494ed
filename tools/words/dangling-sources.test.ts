import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { danglingSources } from "./dangling-sources.ts";

const root = join(import.meta.dirname, "../..");
const files = execFileSync("git", ["ls-files", "*.ts", "*.md", "*.js"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)));
const pages = new Set(files.filter((file) => file.endsWith(".md")).map((file) => basename(file)));

/** Files that speak of pages without citing any: examples and tests of the tools that read pages, and where the site has its pages. */
const exceptions: readonly RegExp[] = [/^tools\/(words|docs|site)\/.*\.test\.ts$/, /^tools\/site\/site-pages\.ts$/];

it("finds missing pages, numbered findings and issues, and sections of no page", () => {
  const text =
    "see docs/gone.md, (F24), issue 3, and section 4.2 of it\n// RFC 9110, section 10.2, README.md, https://x.org/a.md";
  expect(danglingSources(text, (page) => page === "README.md")).toEqual([
    { line: 1, text: "docs/gone.md" },
    { line: 1, text: "(F24" },
    { line: 1, text: "section 4.2" },
    { line: 1, text: "issue 3" },
  ]);
});

it("finds none in the sources and documents", () => {
  const problems = files
    .filter((file) => !exceptions.some((exception) => exception.test(file)))
    .flatMap((file) =>
      danglingSources(readFileSync(join(root, file), "utf8"), (page) => pages.has(basename(page))).map(
        ({ line, text }) => `${file}:${line}: ${text}`,
      ),
    );
  expect(problems).toEqual([]);
});
