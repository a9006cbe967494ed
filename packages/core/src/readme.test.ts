import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it("has a README whose example runs and prints the documented output", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const code = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, each = ""]) => each).at(-1) ?? "";
  const promised = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line);
  const { stdout } = await run(
    process.execPath,
    ["--conditions=@millwright/source", "--input-type=module-typescript", "--eval", code],
    // Colors, which nx asks for, would not be part of what the README promises.
    { cwd: new URL("..", import.meta.url), env: { ...process.env, FORCE_COLOR: "0" } },
  );
  expect(promised).toHaveLength(2);
  expect(stdout.trimEnd().split("\n")).toEqual(promised);
}, 20_000);
