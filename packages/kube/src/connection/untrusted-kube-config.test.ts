import dns from "node:dns";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import { loadKubeConfig } from "./load-kube-config.ts";
import type { KubeConfigPermission } from "./untrusted-kube-config.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "untrusted-"));
  await mkdir(join(folder, "mount", "below"), { recursive: true });
  const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  for (const place of [".", "mount", "mount/below"])
    for (const name of ["token", "pem"]) await writeFile(join(folder, place, name), name === "pem" ? pem : "t");
});
afterAll(() => rm(folder, { recursive: true }));

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
}

/** The path of a kubeconfig, which is JSON, in the folder `mount`. */
async function kubeConfig({ cluster = {}, user = {} }: Parts): Promise<string> {
  const file = join(folder, "mount", "kubeconfig");
  const config = {
    "current-context": "dev",
    clusters: [{ name: "c", cluster: { server: "https://api.example", ...cluster } }],
    users: [{ name: "u", user: { token: "t", ...user } }],
    contexts: [{ name: "dev", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const load = async (parts: Parts, ...allowed: KubeConfigPermission[]) =>
  loadKubeConfig({ file: await kubeConfig(parts), fromOutside: { allowed, flag: "--allow" }, env: {} });

const pair = { "client-certificate": "pem", "client-key": "pem" };

test.each<[KubeConfigPermission, string, Parts]>([
  ["exec", 'user "u" has an exec entry', { user: { exec: { command: "login" } } }],
  ["files", 'user "u": tokenFile is in another folder than the kubeconfig', { user: { tokenFile: "../token" } }],
  ["files", 'user "u": tokenFile is in another folder than the kubeconfig', { user: { tokenFile: "below/token" } }],
  ["files", 'user "u": client-certificate is in', { user: { ...pair, "client-certificate": "below/../../pem" } }],
  ["files", 'user "u": client-key is in another folder', { user: { ...pair, "client-key": "../pem" } }],
  ["files", 'cluster "c": certificate-authority is in', { cluster: { "certificate-authority": "../pem" } }],
  ["proxy-url", 'cluster "c" has a proxy-url', { cluster: { "proxy-url": "http://10.0.0.1:3128" } }],
  [
    "insecure-skip-tls-verify",
    'cluster "c" has insecure-skip-tls-verify',
    { cluster: { "insecure-skip-tls-verify": true } },
  ],
  ["http", 'cluster "c": server has no TLS and is not on loopback', { cluster: { server: "http://10.0.0.1:8080" } }],
  ["http", 'cluster "c": server has no TLS', { cluster: { server: "http://127.0.0.1.example:8080" } }],
  ...[
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]",
    "168.63.129.16",
    "metadata.google.internal",
    "METADATA.google.internal.",
  ].map((host): [KubeConfigPermission, string, Parts] => [
    "link-local",
    'cluster "c": server is a link-local address',
    { cluster: { server: `https://${host}` } },
  ]),
])("a kubeconfig from outside needs %s when %s", async (permission, problem, parts) => {
  await expect(load(parts)).rejects.toThrow(problem);
  await expect(load(parts)).rejects.toThrow(
    new RegExp(`, which is not allowed in a kubeconfig from outside; --allow=${permission} allows it$`),
  );
  await expect(load(parts, permission)).resolves.toMatchObject({ server: expect.any(String) });
  // That of the user himself may have everything.
  await expect(loadKubeConfig({ file: await kubeConfig(parts), env: {} })).resolves.toMatchObject({});
});

test.each<[string, Parts]>([
  ["a token beside it, as Gardener mounts both", { user: { token: undefined, tokenFile: "token" } }],
  ["certificates beside it", { user: pair, cluster: { "certificate-authority": "./pem" } }],
  ["a server on loopback without TLS", { cluster: { server: "http://127.0.0.1:8001" } }],
  [
    "a server on loopback without TLS that is not verified, as of the devcluster",
    { cluster: { server: "http://127.0.0.1:8001", "insecure-skip-tls-verify": true } },
  ],
  ["a server inside of the cluster", { cluster: { server: "https://kube-apiserver" } }],
])("a kubeconfig from outside may have %s", async (_, parts) => {
  await expect(load(parts)).resolves.toMatchObject({ server: expect.any(String) });
});

test("does not connect to a name that resolves to a link-local address", async () => {
  const server = await startLoopbackServer((_, response) => void response.end("{}"));
  onTestFinished(server.close);
  const port = new URL(server.url).port;
  const addresses: Record<string, string> = { "api.example": "127.0.0.1", "hidden.example": "169.254.169.254" };
  const lookup = vi.spyOn(dns, "lookup");
  onTestFinished(() => lookup.mockRestore());
  lookup.mockImplementation(((host: string, _: unknown, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: addresses[host], family: 4 }])) as never);
  const request = async (name: string, ...allowed: KubeConfigPermission[]) => {
    const config = await load({ cluster: { server: `http://${name}.example:${port}` } }, "http", ...allowed);
    const api = createApiClient(config);
    onTestFinished(() => api.close());
    return api.request({ method: "GET", path: "/" });
  };
  await expect(request("api")).resolves.toBeDefined();
  await expect(request("hidden")).rejects.toThrow(
    "hidden.example resolves to 169.254.169.254, a link-local address, which is not allowed here",
  );
});
