import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);

it.each([
  ["aws", "@aws-sdk"],
  ["azure", "@azure"],
  ["gcp", "@google-cloud"],
])(
  "the driver of %s does not load its SDK before it is used, and comes in less than 60 ms after the contract",
  { timeout: 60_000 },
  async (provider, sdk) => {
    const folder = fileURLToPath(new URL(`../providers/${provider}`, import.meta.url));
    const index = `${folder}/src/index.ts`;
    const script = `
      const { registerHooks } = await import("node:module");
      await import("@millwright/core");
      const loaded = [];
      registerHooks({
        resolve(specifier, context, next) {
          const found = next(specifier, context);
          if (found.url.includes(${JSON.stringify(`/node_modules/${sdk}`)})) loaded.push(found.url);
          return found;
        },
      });
      const start = performance.now();
      const used = process.cpuUsage();
      await import(${JSON.stringify(index)});
      const wallMs = performance.now() - start;
      const { user, system } = process.cpuUsage(used);
      console.log(JSON.stringify({ tookMs: Math.min(wallMs, (user + system) / 1_000), loaded }));`;
    let bestMs = Number.POSITIVE_INFINITY;
    // The best of a few, and time on the processor where that is less: others use the machine too.
    for (let attempt = 0; attempt < 10 && bestMs >= 60; attempt++) {
      const { stdout } = await run(
        process.execPath,
        ["--conditions=@millwright/source", "--input-type=module", "--eval", script],
        { cwd: folder },
      );
      const { tookMs, loaded }: { tookMs: number; loaded: readonly string[] } = JSON.parse(stdout);
      expect(loaded).toEqual([]);
      bestMs = Math.min(bestMs, tookMs);
    }
    expect(bestMs).toBeLessThan(60);
  },
);
