import { writeFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isConfigError, systemClock } from "@millwright/base";
import { noLog } from "@millwright/kube";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ProfilingOptions, type ProfilingServer, serveProfiles } from "./serve-profiles.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "profiles-"));
});
afterAll(() => rm(folder, { recursive: true }));

let server: ProfilingServer | undefined;
afterEach(() => server?.close());

const start = async (change: Partial<ProfilingOptions> = {}): Promise<string> => {
  server = await serveProfiles({ address: "127.0.0.1", port: 0, clock: systemClock, log: noLog, ...change });
  return `http://127.0.0.1:${server.port}`;
};
const read = async (url: string, init: RequestInit = {}): Promise<readonly [number, string]> => {
  const response = await fetch(url, init);
  return [response.status, await response.text()];
};
const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

test("serves a CPU profile, which names the functions that ran", async () => {
  const url = await start();
  const spin = setInterval(function busyInThisTest() {
    const endMs = performance.now() + 5;
    while (performance.now() < endMs);
  }, 1);
  onTestFinished(() => clearInterval(spin));
  // On a busy computer a profile of a second may have few samples.
  await expect
    .poll(async () => {
      const [status, text] = await read(`${url}/debug/cpu?seconds=1`);
      expect(status).toBe(200);
      const { nodes, samples } = JSON.parse(text);
      expect(samples.length).toBeGreaterThan(0);
      return JSON.stringify(nodes);
    })
    .toContain("busyInThisTest");
});

test("serves statistics of the heap, and a list of what there is", async () => {
  const url = await start();
  const [, text] = await read(`${url}/debug/heap`);
  expect(JSON.parse(text)).toMatchObject({
    process: { rss: expect.any(Number) },
    heap: { used_heap_size: expect.any(Number) },
  });
  expect(await read(`${url}/debug/`)).toEqual([200, expect.stringContaining("/debug/cpu?seconds=10")]);
});

test.each([
  ["/debug/cpu?seconds=0", 400],
  ["/debug/cpu?seconds=61", 400],
  ["/debug/cpu?seconds=1e1", 400],
  ["/debug/cpu?seconds=-1", 400],
  ["/metrics", 404],
  ["/", 404],
])("rejects %s with %i", async (path, status) => {
  const url = await start();
  expect((await read(`${url}${path}`))[0]).toBe(status);
  // The next profile can be made: the one before was not begun.
  expect((await read(`${url}/debug/cpu?seconds=1`))[0]).toBe(200);
});

test("rejects other methods", async () => {
  const url = await start();
  expect((await read(`${url}/debug/cpu`, { method: "POST" }))[0]).toBe(405);
});

test("makes one profile at a time, and the next when a client has gone away", async () => {
  const url = await start();
  const gone = new AbortController();
  const first = fetch(`${url}/debug/cpu?seconds=60`, { signal: gone.signal }).catch(() => undefined);
  await expect.poll(async () => (await read(`${url}/debug/cpu?seconds=1`))[0]).toBe(429);
  gone.abort();
  await first;
  await expect.poll(async () => (await read(`${url}/debug/cpu?seconds=1`))[0]).toBe(200);
});

test("ends a profile when the process stops", async () => {
  const url = await start();
  const profile = read(`${url}/debug/cpu?seconds=60`).catch(() => "ended");
  await expect.poll(async () => (await read(`${url}/debug/cpu?seconds=1`))[0]).toBe(429);
  await server?.close();
  server = undefined;
  expect(await profile).toBe("ended");
});

test.each(["0.0.0.0", "::", "192.0.2.1", "10.0.0.1"])("refuses to listen on %s without a token", async (address) => {
  const starting = start({ address });
  await expect(starting).rejects.toThrow(/is not a loopback address; .*--profiling-token-file$/);
  await expect(starting).rejects.toSatisfy(isConfigError);
});

test("listens on all addresses with a token, and asks each request for it", async () => {
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, "a-token\n");
  const url = await start({ address: "0.0.0.0", tokenFile });
  expect((await read(`${url}/debug/heap`))[0]).toBe(401);
  expect((await read(`${url}/debug/heap`, bearer("another")))[0]).toBe(401);
  expect((await read(`${url}/debug/heap`, bearer("a-token")))[0]).toBe(200);
  await writeFile(tokenFile, "rotated");
  expect((await read(`${url}/debug/heap`, bearer("a-token")))[0]).toBe(401);
  expect((await read(`${url}/debug/heap`, bearer("rotated")))[0]).toBe(200);
});

test.each(["", "\n", undefined])("admits no one when the token file has %j", async (content) => {
  const tokenFile = join(folder, "empty");
  await rm(tokenFile, { force: true });
  if (content !== undefined) await writeFile(tokenFile, content);
  const url = await start({ tokenFile });
  expect((await read(`${url}/debug/heap`))[0]).toBe(401);
  expect((await read(`${url}/debug/heap`, bearer("x")))[0]).toBe(401);
});

test("serves a heap snapshot only with a token: it has the secrets of the process", async () => {
  const url = await start();
  expect(await read(`${url}/debug/heap-snapshot`)).toEqual([403, expect.stringContaining("--profiling-token-file")]);
  await server?.close();
  const tokenFile = join(folder, "snapshot");
  await writeFile(tokenFile, "a-token");
  const guarded = await start({ tokenFile });
  expect((await read(`${guarded}/debug/heap-snapshot`))[0]).toBe(401);
  const response = await fetch(`${guarded}/debug/heap-snapshot`, bearer("a-token"));
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('{"snapshot":{"meta"');
  await reader?.cancel();
});

test("rejects a web page whose name resolves to this machine", async () => {
  const url = new URL(await start());
  const statusFor = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ port: url.port, host: "127.0.0.1", path: "/debug/heap", headers: { host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
  expect(await statusFor("evil.example:6060")).toBe(403);
  expect(await statusFor("localhost:6060")).toBe(200);
  expect(await statusFor("[::1]:6060")).toBe(200);
});

test("names the flag when the port is in use", async () => {
  const { port } = new URL(await start());
  await expect(
    serveProfiles({ address: "127.0.0.1", port: Number(port), clock: systemClock, log: noLog }),
  ).rejects.toThrow(/^--profiling-address: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
});
