import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isAllowed, productionClosure } from "./licenses.ts";
import type { LockEntry } from "./licenses.ts";
import { publishedPackages, root } from "./packages.ts";

it("everything that the published packages install has a license that allows to ship it", () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockEntry>;
  };
  const paths = productionClosure(
    publishedPackages().map(({ folder }) => folder),
    lock.packages,
  );
  expect(paths).toContain("node_modules/zod");
  expect(paths).toContain("node_modules/@aws-sdk/client-ec2");
  expect(paths).not.toContain("node_modules/vitest");
  const rejected = paths.filter((path) => !isAllowed(lock.packages[path]?.license));
  expect(rejected.map((path) => `${path}: ${lock.packages[path]?.license ?? "no license"}`)).toEqual([]);
});

it("a package is found where Node finds it, and what only tests need is left out", () => {
  const lock: Record<string, LockEntry> = {
    "packages/a": { dependencies: { b: "1", own: "1" } },
    "packages/own": { optionalDependencies: { missing: "1" }, peerDependencies: { c: "2" } },
    "node_modules/own": { link: true, resolved: "packages/own" },
    "node_modules/b": { dependencies: { c: "1" } },
    "node_modules/b/node_modules/c": {},
    "node_modules/c": {},
    "node_modules/test-only": {},
  };
  expect(productionClosure(["packages/a"], lock)).toEqual([
    "node_modules/b",
    "node_modules/b/node_modules/c",
    "node_modules/c",
    "packages/a",
    "packages/own",
  ]);
});

it.each([
  ["MIT", true],
  ["(MIT OR GPL-3.0-only)", true],
  ["MIT AND Apache-2.0", true],
  ["(BSD-3-Clause AND GPL-2.0-only)", false],
  ["GPL-3.0-only", false],
  ["SEE LICENSE IN LICENSE", false],
  [undefined, false],
])("license %s: allowed is %s", (license, allowed) => {
  expect(isAllowed(license)).toBe(allowed);
});
