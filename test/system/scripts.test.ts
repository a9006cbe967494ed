import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Programs of others, which have a help of their own. */
const foreign = ["npm", "vitest", "nx", "oxlint", "oxfmt", "tsc", "knip"];
/** Run by npm before another script, without arguments. */
const preludes = Object.keys(scripts).filter((name) => name.startsWith("pre"));

/** Programs without a script: their own comments name the command. */
const tools: Readonly<Record<string, string>> = {
  "azure-models": "node --conditions=@millwright/source tools/azure-models/main.ts",
  "bench-kube kube": "node --conditions=@millwright/source tools/bench-kube/kube.ts",
  "bench-kube devcluster": "node --conditions=@millwright/source tools/bench-kube/devcluster.ts",
  "built-in-schemas": "node --conditions=@millwright/source tools/built-in-schemas/main.ts",
};

const own = Object.entries({ ...scripts, ...tools }).filter(
  ([name, command]) => !preludes.includes(name) && !foreign.includes(command.split(" ")[0] ?? ""),
);

/** Runs a script of package.json with more arguments. */
const run = (command: string, ...more: readonly string[]) =>
  new Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const [, ...args] = command.split(" ");
    execFile(process.execPath, [...args, ...more], { cwd: root }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

describe("the commands of this repository", () => {
  it("are those of package.json that are no programs of others", () => {
    expect(own.length).toBeGreaterThan(10);
    for (const [, command] of own) expect(command.split(" ")[0]).toBe("node");
  });

  it.each(own)("print their usage for --help, with status 0: %s", { timeout: 120_000 }, async (_, command) => {
    const { status, stdout, stderr } = await run(command, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.trimStart()).toMatch(/^usage: /i);
  });

  // The flags of `npm test` are those of vitest, which rejects unknown ones.
  it.each(own.filter(([name]) => name !== "test"))(
    "reject an unknown flag with status 2, and do nothing: %s",
    { timeout: 120_000 },
    async (_, command) => {
      const { status, stdout, stderr } = await run(command, "--no-such-flag");
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(/usage|--help/);
    },
  );
});
