import { access } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import * as core from "@millwright/core/machine-api";
import { beforeAll, describe, expect, it } from "vitest";
import { documentPages, type Page, root } from "./document-pages.ts";
import { anchorsOf, isExternal, linksOf } from "./markdown-links.ts";
import { metricNames } from "./metric-names.ts";

const exists = (file: string): Promise<boolean> =>
  access(join(root, file)).then(
    () => true,
    () => false,
  );

/** Annotations, taints and metrics of Millwright, and MCM's metrics. */
const names = new Set<string>([
  ...Object.values(core.annotationKeys),
  ...Object.values(core.taintKeys),
  ...metricNames,
]);

/** Metrics of MCM that a page names because Millwright does not have them, and a package of Python. */
const others = new Set([
  "mcm_machine_controller_frozen",
  "mcm_machine_initialize_duration_seconds",
  "millwright_driver",
]);

describe("the documents", () => {
  let pages: readonly Page[];
  beforeAll(async () => {
    pages = await documentPages();
  });

  it("link to files and headings that exist", async () => {
    const broken: string[] = [];
    let links = 0;
    for (const { file, text } of pages) {
      for (const link of linksOf(text)) {
        if (isExternal(link)) continue;
        links++;
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? file : normalize(join(dirname(file), path));
        const page = pages.find((each) => each.file === target);
        const isThere = anchor === undefined ? await exists(target) : anchorsOf(page?.text ?? "").includes(anchor);
        if (!isThere) broken.push(`${file}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
    expect(links).toBeGreaterThan(20);
  });

  it("name annotations, taints and metrics that exist", () => {
    const unknown = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/machine\.millwright\.dev\/[\w-]*\w|\b(?:mcm|millwright)_\w+\b(?!\*)/g)]
        .map(([name]) => name)
        .filter((name) => !names.has(name) && !others.has(name) && !name.endsWith("_"))
        .map((name) => `${file}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it("name source files that exist", async () => {
    const missing: string[] = [];
    for (const { file, text } of pages) {
      for (const [, path = ""] of text.matchAll(/`((?:packages|providers|tools|test|src)\/[\w./-]+)`/g)) {
        // The tutorial is about a package that its reader makes from the template.
        if (file === "docs/drivers/tutorial.md" && (await exists(join("packages/create-driver/template", path))))
          continue;
        const isInPackage = path.startsWith("src/");
        if (isInPackage && !/^(packages|providers)\//.test(file)) continue;
        if (!(await exists(isInPackage ? join(dirname(file), path) : path))) missing.push(`${file}: ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });
});
