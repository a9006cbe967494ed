import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { main } from "../main.ts";
import { loadTargetConfig } from "./target-kubeconfig.ts";

let folder = "";
let printed = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "target-"));
  printed = "";
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      printed += String(chunk);
      return true;
    });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** The path of a kubeconfig, which is JSON. */
async function kubeConfig(name: string, user: object): Promise<string> {
  const file = join(folder, name);
  const config = {
    "current-context": "x",
    clusters: [{ name: "x", cluster: { server: "http://127.0.0.1:1" } }],
    users: [{ name: "x", user }],
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** What each exec entry has. */
const execV1 = { apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" };

test.each([
  ["run --provider mock", "--control-kubeconfig"],
  ["describe machine m", "--control-kubeconfig"],
  ["doctor --clusters-only", "--control-kubeconfig"],
  ["plan --scale pool=1", "--kubeconfig"],
])("%s runs no program that the kubeconfig of the target cluster names", async (command, control) => {
  const exec = { exec: { ...execV1, command: join(folder, "login") } };
  const own = await kubeConfig("own", exec);
  const target = await kubeConfig("target", exec);
  expect(await main([...command.split(" "), control, own, "--target-kubeconfig", target])).toBe(1);
  const text = printed.replaceAll(/\s+/g, " ");
  expect(text).toContain(
    `kubeconfig ${target}: user "x" has an exec entry, which is not allowed in a kubeconfig from outside`,
  );
  expect(text).toContain("--target-kubeconfig-allow=exec allows it");
});

test("restricts the file as well when it names the control cluster, too", async () => {
  const target = await kubeConfig("target", { exec: { ...execV1, command: join(folder, "login") } });
  expect(await main(["run", "--provider", "mock", "--target-kubeconfig", target])).toBe(1);
  expect(printed).toContain("--target-kubeconfig-allow=exec allows it");
});

test("allows what the flag lists", async () => {
  const targetKubeconfig = await kubeConfig("target", { exec: { ...execV1, command: "login" } });
  await expect(loadTargetConfig({ targetKubeconfig, targetKubeconfigAllow: ["exec"] })).resolves.toMatchObject({
    server: "http://127.0.0.1:1",
  });
});

test("reports a permission that does not exist", async () => {
  expect(await main(["run", "--provider", "mock", "--target-kubeconfig-allow", "exec,everything"])).toBe(2);
  expect(printed).toContain("expected a list of exec, files, proxy-url, insecure-skip-tls-verify, http, link-local");
});
