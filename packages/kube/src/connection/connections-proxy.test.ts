import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { inspect } from "node:util";
import { type RecordingProxyOptions, startRecordingProxy } from "@millwright/base/testing";
import { afterEach, expect, test } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { makeCertificate } from "../testing/certificate.ts";
import { loadInCluster } from "./in-cluster.ts";
import { loadKubeConfig } from "./load-kube-config.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function startProxy(options: RecordingProxyOptions = {}) {
  const proxy = await startRecordingProxy(options);
  closers.push(proxy.close);
  return proxy;
}

/** The URL of a proxy with a user and a password. */
const withPassword = (url: string): string => url.replace("//", "//me:pr0xyKey@");

/** An API server with TLS that answers every read, and watches with one event. */
async function startApi() {
  const certificate = makeCertificate("api");
  const node = { metadata: { name: "a", resourceVersion: "7" } };
  const server = createServer(certificate, ({ url = "" }, response: ServerResponse) => {
    response.setHeader("content-type", "application/json");
    if (url.includes("watch=true")) response.write(`${JSON.stringify({ type: "ADDED", object: node })}\n`);
    else response.end(JSON.stringify(node));
  });
  return { port: await listen(server), ca: certificate.cert, certificate };
}

/** How a client reaches an API server. */
interface Way {
  /** `proxy-url` of the kubeconfig. */
  readonly proxyUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** As the kubeconfig has it; it answers on 127.0.0.1. */
  readonly host?: string;
}

async function clientFor(api: { readonly port: number; readonly ca: string }, { proxyUrl, env, host }: Way) {
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  closers.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "kubeconfig");
  const ca = { "certificate-authority-data": Buffer.from(api.ca).toString("base64") };
  const cluster = {
    server: `https://${host ?? "127.0.0.1"}:${api.port}`,
    // The certificate is for 127.0.0.1 alone.
    ...(host === undefined ? ca : { "insecure-skip-tls-verify": true }),
    ...(proxyUrl === undefined ? {} : { "proxy-url": proxyUrl }),
  };
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "x",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "SECRET" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    }),
  );
  const client = createApiClient(await loadKubeConfig({ file, env: env ?? {} }));
  closers.push(client.close);
  return client;
}

type Client = Awaited<ReturnType<typeof clientFor>>;

/** Reads three times, and watches until the first event. */
async function readAndWatch(client: Client): Promise<void> {
  for (let i = 0; i < 3; i++) expect((await client.get(nodeResource, { name: "a" })).metadata.name).toBe("a");
  const stop = new AbortController();
  for await (const { object } of client.watch(nodeResource, { resourceVersion: "1" }, stop.signal)) {
    expect(object.metadata.resourceVersion).toBe("7");
    break;
  }
}

test("sends requests and watches through the proxy of the kubeconfig, which sees neither the token nor the answers", async () => {
  const api = await startApi();
  const proxy = await startProxy({ credentials: "me:pr0xyKey" });
  const client = await clientFor(api, { proxyUrl: withPassword(proxy.url) });
  await readAndWatch(client);
  expect(proxy.tunnels.map(({ target }) => target)).toEqual([`127.0.0.1:${api.port}`, `127.0.0.1:${api.port}`]);
  // The tunnel of the watch is closed with it; that of the requests is kept.
  await expect.poll(proxy.open).toBe(1);
  expect(JSON.stringify(proxy.tunnels)).not.toContain("SECRET");
});

test("sends requests and watches through the proxy of the environment", async () => {
  const api = await startApi();
  const proxy = await startProxy({ forward: () => `127.0.0.1:${api.port}` });
  await readAndWatch(await clientFor(api, { host: "api.invalid", env: { HTTPS_PROXY: proxy.url } }));
  expect(proxy.tunnels.map(({ target }) => target)).toEqual([`api.invalid:${api.port}`, `api.invalid:${api.port}`]);
});

test("sends requests and watches past the proxy where NO_PROXY names the server", async () => {
  const api = await startApi();
  const proxy = await startProxy();
  // No loopback address, to the eye of Go; and yet it leads to this machine.
  const host = "0.0.0.0";
  await readAndWatch(await clientFor(api, { host, env: { HTTPS_PROXY: proxy.url, NO_PROXY: "0.0.0.0/8" } }));
  expect(proxy.tunnels).toEqual([]);
  await readAndWatch(await clientFor(api, { host, env: { HTTPS_PROXY: proxy.url } }));
  expect(proxy.tunnels).toHaveLength(2);
});

test("prefers the proxy of the kubeconfig to that of the environment, regardless of NO_PROXY", async () => {
  const api = await startApi();
  const [ofFile, ofEnvironment] = [await startProxy(), await startProxy()];
  const env = { HTTPS_PROXY: ofEnvironment.url, NO_PROXY: "*" };
  await readAndWatch(await clientFor(api, { proxyUrl: ofFile.url, host: "0.0.0.0", env }));
  expect(ofFile.tunnels).toHaveLength(2);
  expect(ofEnvironment.tunnels).toEqual([]);
});

test("talks TLS to a proxy that is https, whose certificate may be of the cluster's authority", async () => {
  const api = await startApi();
  const proxy = await startProxy({ tls: api.certificate });
  await readAndWatch(await clientFor(api, { proxyUrl: proxy.url }));
  expect(proxy.tunnels).toHaveLength(2);

  const stranger = await startProxy({ tls: makeCertificate("another") });
  const client = await clientFor(api, { proxyUrl: stranger.url });
  await expect(client.get(nodeResource, { name: "a" })).rejects.toThrow(`proxy ${stranger.url} is unreachable`);
});

test("trusts a proxy that is https by the system's store where the kubeconfig has no authority", async () => {
  const [api, certificate] = [await startApi(), makeCertificate("proxy")];
  const proxy = await startProxy({ tls: certificate });
  // It has no authority, and does not check the API server; nor does anything but the store vouch for the proxy.
  const read = async () =>
    (await clientFor(api, { proxyUrl: proxy.url, host: "127.0.0.1" })).get(nodeResource, { name: "a" });
  await expect(read()).rejects.toThrow(`proxy ${proxy.url} is unreachable (DEPTH_ZERO_SELF_SIGNED_CERT)`);
  const before = getCACertificates();
  setDefaultCACertificates([...before, certificate.cert]);
  closers.push(() => setDefaultCACertificates(before));
  await expect(read()).resolves.toMatchObject({ metadata: { name: "a" } });
  expect(proxy.tunnels).toHaveLength(1);
});

test("checks the certificate of the server behind the proxy", async () => {
  const api = await startApi();
  const proxy = await startProxy();
  const client = await clientFor({ ...api, ca: makeCertificate("another").cert }, { proxyUrl: proxy.url });
  await expect(client.get(nodeResource, { name: "a" })).rejects.toMatchObject({ reason: "Unreachable" });
});

test.each([
  ["answers 407", async () => (await startProxy({ refuse: 407 })).url, "responded with 407"],
  ["answers 502", async () => (await startProxy({ refuse: 502 })).url, "responded with 502"],
  ["is not there", async () => "http://127.0.0.1:1", "is unreachable (ECONNREFUSED)"],
])("names the proxy that %s, without its password", async (_, start, expected) => {
  const [api, url] = [await startApi(), await start()];
  const client = await clientFor(api, { proxyUrl: withPassword(url) });
  const watch = client.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal);
  const failures = [client.get(nodeResource, { name: "a" }), watch[Symbol.asyncIterator]().next()];
  for (const error of await Promise.all(failures.map((failure) => failure.catch((error: unknown) => error)))) {
    expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
    expect(String(error)).toContain(`the API server is unreachable: proxy ${url} ${expected}`);
    expect(inspect(error)).not.toContain("pr0xyKey");
  }
});

test("takes the proxy of the environment in a pod, too", async () => {
  const folder = await mkdtemp(join(tmpdir(), "service-account-"));
  closers.push(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "token"), "SECRET");
  await writeFile(join(folder, "ca.crt"), makeCertificate("api").cert);
  const pod = {
    KUBERNETES_SERVICE_HOST: "10.96.0.1",
    KUBERNETES_SERVICE_PORT: "443",
    HTTPS_PROXY: "proxy.example:3128",
  };
  expect((await loadInCluster(pod, { folder })).proxyUrl).toBe("http://proxy.example:3128/");
  expect((await loadInCluster({ ...pod, NO_PROXY: ".svc,10.96.0.0/12" }, { folder })).proxyUrl).toBeUndefined();
});
