import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { kubeconfigFor } from "@millwright/devcluster";
import { afterAll, beforeAll, expect, it } from "vitest";

const bin = fileURLToPath(new URL("bin.ts", import.meta.url));

/** Writes the address of each module that a process loads to its standard error, and that of the HTTP client within Node. */
const recorder = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
  process.on("exit", () => {
    if (process.moduleLoadList.includes("NativeModule internal/deps/undici/undici")) urls.push("node:undici");
    process.stderr.write(urls.join("\\n"));
  });
`)}`;

/** The modules that a command line loads, also where it fails. */
async function modulesOf(...args: readonly string[]): Promise<readonly string[]> {
  const flags = ["--import", recorder, "--conditions=@millwright/source", bin, ...args];
  const run = promisify(execFile)(process.execPath, flags);
  const { stderr } = await run.catch((error: { readonly stderr: string }) => error);
  return stderr.split("\n").filter((line) => /^(node|file):/.test(line));
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-modules-"));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ["why", "machine/a"],
  ["describe", "machine", "a"],
  ["describe", "deployment", "a"],
  ["drain", "a", "--dry-run"],
  ["crds", "diff"],
])("loads no controller, driver, metrics or logs for %s %s, and at most 530 modules", async (...args) => {
  const kubeconfig = join(folder, "kubeconfig");
  // Port 1 has no listener; what a command needs is loaded before it connects.
  await writeFile(kubeconfig, kubeconfigFor("http://127.0.0.1:1", {}));
  const modules = await modulesOf(...args.filter((arg) => arg !== undefined), "--kubeconfig", kubeconfig);
  const unneeded =
    /node_modules\/(prom-client|pino|@opentelemetry)\/|controllers\/src\/(index|machine-set)|runtime\/src\/drivers/;
  expect(modules.filter((url) => unneeded.test(url))).toEqual([]);
  expect(modules.some((url) => url.includes("runtime/src/reports.ts"))).toBe(true);
  expect(modules.length).toBeLessThanOrEqual(530);
});

it.each([
  ["plan", "--scale", "a=1"],
  ["snapshot", "--file", "none.json"],
  ["export"],
  ["drift"],
  ["doctor", "--clusters-only"],
  ["uninstall"],
])("loads no metrics and no second HTTP client for %s", async (...args) => {
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor("http://127.0.0.1:1", {}));
  const modules = await modulesOf(...args, "--kubeconfig", kubeconfig);
  expect(modules.filter((url) => /node_modules\/(prom-client|@opentelemetry)\/|node:undici/.test(url))).toEqual([]);
  expect(modules.length).toBeGreaterThan(300);
});

it.each([[["--help"]], [["run", "--help"]], [["why", "--help"]]])(
  "loads no schemas, no client and no YAML for %j, and at most 68 modules",
  async (args) => {
    const modules = await modulesOf(...args);
    expect(modules.filter((url) => /node_modules\/(zod|yaml|undici)\/|packages\/(kube|runtime)\//.test(url))).toEqual(
      [],
    );
    expect(modules.length).toBeGreaterThan(20);
    expect(modules.length).toBeLessThanOrEqual(68);
  },
);
