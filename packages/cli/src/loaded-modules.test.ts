import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const bin = fileURLToPath(new URL("bin.ts", import.meta.url));

/** Writes the address of each module that a process loads to its standard error. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  process.on("exit", () => process.stderr.write(urls.join("\\n")));
`)}`;

/** The modules that a command line loads. */
async function modulesOf(...args: readonly string[]): Promise<readonly string[]> {
  const flags = ["--import", recorder, "--conditions=@millwright/source", bin, ...args];
  const { stderr } = await promisify(execFile)(process.execPath, flags);
  return stderr.split("\n");
}

it.each([[["--help"]], [["run", "--help"]], [["why", "--help"]]])(
  "loads no schemas, no client and no YAML for %j, and at most 75 modules",
  async (args) => {
    const modules = await modulesOf(...args);
    expect(modules.filter((url) => /node_modules\/(zod|yaml|undici)\/|packages\/(kube|runtime)\//.test(url))).toEqual(
      [],
    );
    expect(modules.length).toBeGreaterThan(20);
    expect(modules.length).toBeLessThanOrEqual(75);
  },
);
