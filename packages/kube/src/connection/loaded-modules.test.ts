import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const source = new URL("./load-kube-config.ts", import.meta.url).href;

/** Prints the files of client-node that a process loads which reads a kubeconfig and its credentials. */
const script = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      const [, file] = /client-node\\/dist\\/(.*)$/.exec(url) ?? [];
      if (file !== undefined) loaded.push(file);
      return next(url, context);
    },
  });
  const { loadKubeConfig } = await import(${JSON.stringify(source)});
  const { credentials } = await loadKubeConfig({ file: process.argv[1] });
  const { headers } = await credentials();
  console.log(JSON.stringify({ headers, loaded }));
`;

/** The credentials of a user of a kubeconfig, and the files of client-node that were loaded for them. */
async function read(user: object): Promise<{ readonly headers: object; readonly loaded: readonly string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "config");
  const content = {
    "current-context": "dev",
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443" } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "dev", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(file, JSON.stringify(content));
  const flags = ["--conditions=@millwright/source", "--input-type=module", "--eval", script, file];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  return JSON.parse(stdout);
}

test("a kubeconfig loads one module of client-node, which is large", async () => {
  const { headers, loaded } = await read({ token: "t" });
  expect(headers).toEqual({ authorization: "Bearer t" });
  expect(loaded).toEqual(["config_types.js"]);
});

/** Names of undici's files that a process loads which sends a request. */
const requesting = `
  import { createRequire } from "node:module";
  import { createServer } from "node:http";
  import { once } from "node:events";
  const server = createServer((_, response) => response.setHeader("content-type", "application/json").end("{}"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { createApiClient } = await import(${JSON.stringify(new URL("../client/api-client.ts", import.meta.url).href)});
  const api = createApiClient({ server: "http://127.0.0.1:" + server.address().port });
  const { status } = await api.request({ method: "GET", path: "/version" });
  await api.close();
  server.close();
  const files = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("/undici/"));
  console.log(JSON.stringify({ status, folders: [...new Set(files.map((file) => file.split("/").at(-2)))].toSorted() }));
`;

test("a request loads the clients of undici, without fetch and what it needs", async () => {
  const flags = ["--conditions=@millwright/source", "--input-type=module", "--eval", requesting];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const { status, folders }: { status: number; folders: readonly string[] } = JSON.parse(stdout);
  expect(status).toBe(200);
  expect(folders).toContain("dispatcher");
  for (const folder of ["fetch", "mock", "websocket", "cache", "undici"]) expect(folders).not.toContain(folder);
});
