#!/usr/bin/env node
import { basename, join } from "node:path";
import { unsupportedNode } from "./supported-node.ts";
import { stopWhenOutputCloses } from "./terminal/closed-output.ts";

/** How long the process may take to end when its command has, milliseconds: handles that a driver has left open would keep it for ever. */
const EXIT_TIMEOUT_MS = 2_000;

/** As kubectl calls a plugin, its help names it so (kubectl's documentation, "Extend kubectl with plugins"). */
const calledAs = (path: string): string =>
  basename(path).startsWith("kubectl-") ? "kubectl millwright" : "millwright";

/** What kubectl completes its plugins with (kubectl's documentation, "Extend kubectl with plugins"): a program of this name. */
const completes = (path: string): boolean => basename(path).startsWith("kubectl_complete-");

/** Where Node keeps compiled code for the next command; undefined where there is no home. Another user can write to the temporary folder that Node would take. */
function cacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, ".cache"));
  return caches ? join(caches, "millwright", "compiled") : undefined;
}

const problem = unsupportedNode(process.versions.node);
if (problem === undefined) {
  stopWhenOutputCloses();
  const cache = cacheFolder(process.env);
  // Not a static import: an old Node does not have it. It reports a folder that cannot be written in its result, and then nothing is kept.
  if (cache !== undefined) (await import("node:module")).enableCompileCache(cache);
  // Loaded afterwards: an old Node could not even parse it.
  const { main } = await import("./main.ts");
  const [, path = "", ...words] = process.argv;
  process.exitCode = await main(completes(path) ? ["__complete", ...words] : words, calledAs(path));
  // oxlint-disable-next-line no-restricted-globals -- unlike those of the clock, this timer does not keep the process
  setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
