import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createApiClient } from "../client/api-client.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { makeCertificate } from "../testing/certificate.ts";
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

/** A proxy that knows CONNECT and nothing else; `refuse` makes it answer 407. */
async function startProxy(options: { readonly refuse?: boolean } = {}) {
  const asked: { readonly target: string | undefined; readonly headers: IncomingHttpHeaders }[] = [];
  let open = 0;
  const server = createHttpServer((_, response) => void response.writeHead(405).end());
  server.on("connect", (request, socket: Socket, head: Buffer) => {
    asked.push({ target: request.url, headers: request.headers });
    if (options.refuse === true) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const [host, port] = (request.url ?? "").split(":");
    const upstream = connect({ host: host ?? "", port: Number(port) }, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    open++;
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => {
      open--;
      upstream.destroy();
    });
  });
  return { port: await listen(server), asked, open: () => open };
}

/** An API server with TLS that answers every read, and watches with one event. */
async function startApi() {
  const certificate = makeCertificate("api");
  const node = { metadata: { name: "a", resourceVersion: "7" } };
  const server = createServer(certificate, ({ url = "" }, response: ServerResponse) => {
    response.setHeader("content-type", "application/json");
    if (url.includes("watch=true")) response.write(`${JSON.stringify({ type: "ADDED", object: node })}\n`);
    else response.end(JSON.stringify(node));
  });
  return { port: await listen(server), ca: certificate.cert };
}

async function clientFor(api: { readonly port: number; readonly ca: string }, proxyUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  closers.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "kubeconfig");
  const cluster = {
    server: `https://127.0.0.1:${api.port}`,
    "certificate-authority-data": Buffer.from(api.ca).toString("base64"),
    "proxy-url": proxyUrl,
  };
  await writeFile(
    file,
    JSON.stringify({
      "current-context": "x",
      clusters: [{ name: "c", cluster }],
      users: [{ name: "u", user: { token: "SECRET" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    }),
  );
  const client = createApiClient(await loadKubeConfig({ file }));
  closers.push(client.close);
  return client;
}

test("sends requests and watches through the proxy of the kubeconfig, which sees neither the token nor the answers", async () => {
  const api = await startApi();
  const proxy = await startProxy();
  const client = await clientFor(api, `http://me:word@127.0.0.1:${proxy.port}`);
  for (let i = 0; i < 3; i++) expect((await client.get(nodeResource, { name: "a" })).metadata.name).toBe("a");
  expect(proxy.asked.map(({ target }) => target)).toEqual([`127.0.0.1:${api.port}`]);

  const stop = new AbortController();
  for await (const { object } of client.watch(nodeResource, { resourceVersion: "1" }, stop.signal)) {
    expect(object.metadata.resourceVersion).toBe("7");
    break;
  }
  expect(proxy.asked).toHaveLength(2);
  // The tunnel of the watch is closed with it; that of the requests is kept.
  await expect.poll(proxy.open).toBe(1);
  const headers = proxy.asked[0]?.headers;
  expect(headers?.["proxy-authorization"]).toBe(`Basic ${Buffer.from("me:word").toString("base64")}`);
  expect(JSON.stringify(headers)).not.toContain("SECRET");
});

test("checks the certificate of the server behind the proxy", async () => {
  const api = await startApi();
  const proxy = await startProxy();
  const client = await clientFor({ ...api, ca: makeCertificate("another").cert }, `http://127.0.0.1:${proxy.port}`);
  await expect(client.get(nodeResource, { name: "a" })).rejects.toMatchObject({ reason: "Unreachable" });
});

test.each([
  ["refuses", async () => (await startProxy({ refuse: true })).port],
  ["is not there", async () => 1],
])("says that the API server cannot be reached when the proxy %s", async (_, portOf) => {
  const api = await startApi();
  const client = await clientFor(api, `http://me:word@127.0.0.1:${await portOf()}`);
  const error: unknown = await client.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
  expect(String(error)).toContain("the API server cannot be reached");
  expect(String(error)).not.toContain("word");
});
