import { describe, expect, it } from "vitest";
import { problemOf } from "./import-rules.ts";
import { readImports } from "./read-imports.ts";

const ownName = (folder: string): string =>
  `@millwright/${folder.replace("providers/", "provider-").replace("packages/", "")}`;
const check = (file: string, source: string): (string | undefined)[] =>
  readImports(file, source).map((found) => problemOf(found, ownName));

describe("import directions", () => {
  it.each([
    ["packages/controllers/src/a.ts", `import { x } from "@millwright/kube";`],
    ["packages/core/src/a/b.ts", `export { x } from "../c.ts";`],
    ["packages/cli/src/dev.ts", `const { run } = await import("@millwright/runtime");`],
    ["packages/cli/src/dev.ts", `import type { Run } from "@millwright/runtime";`],
    ["packages/cli/src/dev.test.ts", `import { run } from "@millwright/runtime";`],
    ["packages/kube/src/a.ts", `import { Agent } from "undici";`],
    ["providers/mock/src/driver.ts", `import { defineDriver } from "@millwright/core";`],
    ["providers/aws/src/driver.test.ts", `import { x } from "@millwright/emulators/ec2";`],
    ["providers/aws/src/testing/cloud.ts", `import { x } from "@millwright/emulators/ec2";`],
    ["test/e2e/a.ts", `import { x } from "@millwright/runtime";`],
  ])("allows, in %s, %s", (file, source) => {
    expect(check(file, source)).toEqual([undefined]);
  });

  it.each([
    ["packages/core/src/a.ts", `import { x } from "@millwright/kube";`, "may not import @millwright/kube"],
    ["packages/kube/src/a.ts", `import { x } from "@millwright/core";`, "may not import @millwright/core"],
    ["providers/aws/src/a.ts", `import { x } from "@millwright/base";`, "may not import @millwright/base"],
    ["packages/core/src/a.ts", `export { x } from "@millwright/kube/testing";`, "may not import @millwright/kube"],
    ["packages/core/src/a.ts", `import type { X } from "@millwright/kube";`, "may not import @millwright/kube"],
    ["providers/mock/src/a.ts", `import { x } from "@millwright/kube";`, "may not import @millwright/kube"],
    ["providers/aws/src/driver.ts", `import { x } from "@millwright/emulators/ec2";`, "may not import"],
    ["packages/kube/src/a.ts", `import { x } from "../../base/src/clock.ts";`, "leaves its package"],
    ["packages/kube/src/a.ts", `import { x } from "@millwright/kube";`, "its own package by name"],
    ["packages/cli/src/main.ts", `import { run } from "@millwright/runtime";`, "only by import()"],
    ["packages/cli/src/main.ts", `import { run, type X } from "@millwright/runtime";`, "only by import()"],
  ])("refuses, in %s, %s", (file, source, problem) => {
    expect(check(file, source)).toEqual([expect.stringContaining(problem)]);
  });

  it("names the line of an import", () => {
    expect(readImports("packages/core/src/a.ts", `// one\n\nimport "node:fs";\n`)[0]?.line).toBe(3);
  });
});
