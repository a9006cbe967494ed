import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { oldestNode } from "../packages/cli/src/supported-node.ts";

it("one oldest Node is named by every package and by the command", () => {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const files = globSync(["packages/*/package.json", "providers/*/package.json"], { cwd });
  expect(files.length).toBeGreaterThan(12);
  for (const file of files)
    expect(JSON.parse(readFileSync(`${cwd}/${file}`, "utf8")).engines, file).toEqual({ node: `>=${oldestNode}` });
});
