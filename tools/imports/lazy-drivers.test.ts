import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

/** Files that a driver may load before it is used, the kit's among them. 64 took 43 ms after the contract on two quiet cores. */
const MOST_FILES = 95;

it.each(["aws", "azure", "gcp"])(
  "the driver of %s loads no package before it is used, its SDK least of all, and few files of its own",
  async (provider) => {
    const folder = fileURLToPath(new URL(`../../providers/${provider}`, import.meta.url));
    // What the contract brings is there already. Files are counted, not milliseconds: others use the machine too.
    const script = `
      const { registerHooks } = await import("node:module");
      await import("@millwright/core");
      const loaded = new Set();
      registerHooks({
        load(url, context, next) {
          loaded.add(url);
          return next(url, context);
        },
      });
      await import(${JSON.stringify(`${folder}/src/index.ts`)});
      console.log(JSON.stringify([...loaded]));`;
    const { stdout } = await run(
      process.execPath,
      ["--conditions=@millwright/source", "--input-type=module", "--eval", script],
      { cwd: folder },
    );
    const urls: readonly string[] = JSON.parse(stdout);
    const loaded = urls.filter((url) => !url.startsWith("node:"));
    expect(loaded.filter((url) => url.includes("/node_modules/"))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.length).toBeLessThanOrEqual(MOST_FILES);
  },
);
