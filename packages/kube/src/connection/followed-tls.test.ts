import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { Server } from "node:https";
import type { TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { makeCertificate } from "../testing/certificate.ts";
import type { TestCertificate } from "../testing/certificate.ts";
import { loadKubeConfig } from "./load-kube-config.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "followed-tls-"));
});
afterAll(() => rm(folder, { recursive: true }));

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const write = (name: string, text: string) => writeFile(join(folder, name), text);

/** An API server that shows `own` and asks for a client certificate that is one of `clients`. */
async function serve(own: TestCertificate, clients: readonly TestCertificate[]) {
  const peers: (string | undefined)[] = [];
  const server: Server = createServer(
    { ...own, ca: clients.map(({ cert }) => cert), requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server with TLS has no other sockets
      const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
      peers.push(Array.isArray(CN) ? CN[0] : CN);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ metadata: { name: "a" } }));
    },
  );
  let accepted = 0;
  server.on("secureConnection", () => accepted++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `https://127.0.0.1:${port}`, server, peers, accepted: () => accepted };
}

async function apiAt(url: string) {
  await write(
    "kubeconfig",
    JSON.stringify({
      "current-context": "x",
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority": "ca.crt" } }],
      users: [{ name: "u", user: { "client-certificate": "me.crt", "client-key": "me.key" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    }),
  );
  const api = createApiClient(await loadKubeConfig({ file: join(folder, "kubeconfig") }));
  closers.push(api.close);
  return api;
}

async function connect(url: string) {
  const api = await apiAt(url);
  return () => api.get(nodeResource, { name: "a" });
}

test("takes a new client certificate once its key is there too, without an outage in between", async () => {
  const [own, old, fresh] = [makeCertificate("server"), makeCertificate("old"), makeCertificate("fresh")];
  const { url, peers, accepted } = await serve(own, [old, fresh]);
  await Promise.all([write("ca.crt", own.cert), write("me.crt", old.cert), write("me.key", old.key)]);
  const ask = await connect(url);
  await ask();
  await ask();
  const before = accepted();
  await write("me.crt", fresh.cert);
  await ask();
  expect(accepted()).toBe(before);
  await write("me.key", "");
  await ask();
  await write("me.key", fresh.key);
  await ask();
  expect(accepted()).toBeGreaterThan(before);
  expect(peers).toEqual(["old", "old", "old", "old", "fresh"]);
});

test("resumes the TLS session of a watch whose connection was closed, until the client certificate changes", async () => {
  const [own, old, fresh] = [makeCertificate("server"), makeCertificate("old"), makeCertificate("fresh")];
  const { url, server, peers } = await serve(own, [old, fresh]);
  const resumed: boolean[] = [];
  server.on("secureConnection", (socket) => resumed.push(socket.isSessionReused()));
  server.prependListener("request", (_, response) => response.setHeader("connection", "close"));
  await Promise.all([write("ca.crt", own.cert), write("me.crt", old.cert), write("me.key", old.key)]);
  const api = await apiAt(url);
  // The answer ends without a line feed.
  const watch = async () => {
    const events = api.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal);
    await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow("ended inside a line");
  };
  await watch();
  await watch();
  await Promise.all([write("me.crt", fresh.cert), write("me.key", fresh.key)]);
  await watch();
  expect(resumed).toEqual([false, true, false]);
  expect(peers).toEqual(["old", "old", "fresh"]);
});

test("trusts a rotated server certificate once the CA file holds it (API server certificate rotated)", async () => {
  const [own, rotated, me] = [makeCertificate("server"), makeCertificate("rotated"), makeCertificate("me")];
  const { url, server } = await serve(own, [me]);
  await Promise.all([write("ca.crt", own.cert), write("me.crt", me.cert), write("me.key", me.key)]);
  const ask = await connect(url);
  await ask();
  server.setSecureContext({ ...rotated, ca: me.cert });
  server.closeAllConnections();
  await expect(ask()).rejects.toMatchObject({ reason: "Unreachable" });
  await write("ca.crt", own.cert + rotated.cert);
  await expect(ask()).resolves.toMatchObject({ metadata: { name: "a" } });
});
