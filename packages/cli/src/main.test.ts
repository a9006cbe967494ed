import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { main } from "./main.ts";

let folder: string;
let stderr: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-main-"));
  stderr = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

it("reports a failure in one line, without control characters", async () => {
  const file = join(folder, "change.yaml");
  await writeFile(file, 'apiVersion: v1\nkind: "A\\e[31mList"\nitems: [1]\n');
  expect(await main(["plan", "-f", file])).toBe(1);
  expect(stderr).toMatch(/^millwright: .*item 1: not an object.*\n$/);

  stderr = "";
  await writeFile(
    file,
    'apiVersion: machine.sapcloud.io/v1alpha1\nkind: MachineSet\nmetadata: {name: "a\\e[31m", namespace: b}\n',
  );
  expect(await main(["plan", "-f", file, "--state", file, "-n", "c"])).toBe(1);
  expect(stderr).toContain('MachineSet "a [31m": metadata.namespace is "b"');
  expect(stderr).not.toContain("\u001b");
});

it("is a plugin of kubectl under the name kubectl-millwright, and its help shows that name", async () => {
  const plugin = join(folder, "kubectl-millwright");
  await symlink(fileURLToPath(new URL("bin.ts", import.meta.url)), plugin);
  const runAs = (path: string, words = ["why", "--help"]): string =>
    execFileSync(process.execPath, ["--conditions=@millwright/source", path, ...words], { encoding: "utf8" });
  expect(runAs(plugin)).toMatch(/^Usage: kubectl millwright why /);
  expect(runAs(fileURLToPath(new URL("bin.ts", import.meta.url)))).toMatch(/^Usage: millwright why /);
  const completer = join(folder, "kubectl_complete-millwright");
  await symlink(fileURLToPath(new URL("bin.ts", import.meta.url)), completer);
  expect(runAs(completer, ["why", "--state"])).toMatch(/^--state\t.*\n:4\n$/);
});

it("warns of an environment variable that is that of no flag", async () => {
  vi.stubEnv("MILLWRIGHT_MACHINE_HELTH_TIMEOUT", "5m");
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect(await main(["run", "--provider=mock", "--print-config"])).toBe(0);
  expect(stderr).toBe(
    "millwright: MILLWRIGHT_MACHINE_HELTH_TIMEOUT: no flag has this variable; did you mean MILLWRIGHT_MACHINE_HEALTH_TIMEOUT?\n",
  );
});

it.each(["uninstall", "crds diff", "crds apply", "describe machine m", "why machine/m", "plan --scale a=3", "drift"])(
  "%s reports in one line that the API server is unreachable",
  async (command) => {
    const file = join(folder, "kubeconfig");
    const [cluster, context] = [{ server: "http://127.0.0.1:1" }, { cluster: "a", user: "a" }];
    await writeFile(
      file,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "a", cluster }],
        contexts: [{ name: "a", context }],
        users: [{ name: "a", user: {} }],
        "current-context": "a",
      }),
    );
    vi.stubEnv("KUBECONFIG", file);
    expect(await main(command.split(" "))).toBe(1);
    expect(stderr).toMatch(/^millwright: [^\n]*the API server is unreachable: [^\n]*; check the server [^\n]*\n$/);
  },
);
