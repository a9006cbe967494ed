import { type Server, createServer } from "node:http";
import { Secret, isConfigError, systemClock } from "@millwright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCloudClient } from "./cloud-client.ts";
import { type CloudServer, createCloudServer } from "./cloud-server.ts";
import type { MockCloud } from "./cloud.ts";
import { type SimulatedCloud, createSimulatedCloud } from "./simulated-cloud.ts";
import { aVm } from "./testing/mock-cloud.ts";

describe("cloud over HTTP", () => {
  let cloud: SimulatedCloud;
  let server: CloudServer;
  let client: MockCloud;
  let url: string;

  beforeEach(async () => {
    // Nothing changes by itself while a test looks, however busy the computer is.
    cloud = createSimulatedCloud({ clock: systemClock, bootDelayMs: 3_600_000, deleteDelayMs: 3_600_000 });
    server = createCloudServer(cloud);
    ({ url } = await server.listen());
    client = createCloudClient({ endpoint: url });
  });
  afterEach(async () => {
    cloud.close();
    await server.close();
  });

  it("gives what the cloud gives, call by call", async () => {
    const created = await client.createVm({ ...aVm("a"), userData: Uint8Array.of(0, 255, 10), tags: { t: "ä/ü=1" } });
    expect(created).toEqual(cloud.vms()[0]);
    await expect(client.getVm(created.providerId)).resolves.toMatchObject({ id: created.id });
    await expect(
      client.listVms({ tags: { t: "ä/ü=1" }, states: ["pending", "booting", "running"] }),
    ).resolves.toHaveLength(1);
    await expect(client.listVms({ tags: { t: "x" } })).resolves.toEqual([]);
    await expect(client.tagVm("a", { done: "yes" })).resolves.toMatchObject({ tags: { t: "ä/ü=1", done: "yes" } });
    await expect(client.readUserData("a")).resolves.toEqual(Uint8Array.of(0, 255, 10));
    await expect(client.powerVm("a", "kill")).resolves.toMatchObject({ state: "terminated" });
    await expect(client.deleteVm(created.id)).resolves.toMatchObject({ state: "terminated" });
    await expect(client.countCalls()).resolves.toMatchObject({ create: 1, tag: 1 });
  });

  it("carries the code, the message and the delay of a refusal", async () => {
    await expect(client.getVm("none")).rejects.toMatchObject({ code: "NotFound", message: 'there is no VM "none"' });
    const fault = await client.addFault({
      operation: "list",
      code: "Uninitialized",
      message: "odd",
      retryAfterMs: 1500,
    });
    await expect(client.listFaults()).resolves.toEqual([fault]);
    await expect(client.listVms()).rejects.toMatchObject({ code: "Uninitialized", message: "odd", retryAfterMs: 1500 });
    await client.addFault({ operation: "*", code: "Internal" });
    await client.clearFaults();
    await expect(client.listVms()).resolves.toEqual([]);
  });

  it("streams changes by long poll until the VM runs", async () => {
    const quick = createSimulatedCloud({ clock: systemClock, bootDelayMs: 30 });
    const quickServer = createCloudServer(quick);
    const quickClient = createCloudClient({ endpoint: (await quickServer.listen()).url });
    let { cursor } = await quickClient.changes({});
    await quickClient.createVm(aVm("a"));
    const states: string[] = [];
    while (!states.includes("running")) {
      const next = await quickClient.changes(cursor, { waitMs: 2000 });
      cursor = next.cursor;
      states.push(...next.vms.map((changed) => changed.state));
    }
    expect(states.at(-1)).toBe("running");
    quick.close();
    await quickServer.close();
  });

  it("ends a waiting call when the server closes, at once", async () => {
    const { cursor } = await client.changes({});
    const waiting = client.changes(cursor, { waitMs: 20_000 }).then(
      () => "answered",
      (error: unknown) => (error instanceof Error ? Reflect.get(error, "code") : error),
    );
    await systemClock.sleep(50);
    const start = systemClock.monotonicMs();
    await server.close();
    await expect(waiting).resolves.toBeOneOf(["answered", "Unavailable"]);
    // Far less than it would wait.
    expect(systemClock.monotonicMs() - start).toBeLessThan(15_000);
  });

  it("ends a waiting call when the caller aborts", async () => {
    const { cursor } = await client.changes({});
    const controller = new AbortController();
    const waiting = client.changes(cursor, { waitMs: 20_000, signal: controller.signal });
    controller.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  it.each<[string, string, RequestInit, number]>([
    ["an unknown path", "/v1/nothing", {}, 501],
    ["another version", "/v2/vms", {}, 501],
    ["a path that is not well encoded", "/v1/vms/%E0%A4%A", {}, 400],
    ["no JSON", "/v1/vms", { method: "POST", body: "{" }, 400],
    ["no body", "/v1/vms", { method: "POST" }, 400],
    ["an unknown field", "/v1/vms", { method: "POST", body: JSON.stringify({ ...aVm("a"), x: 1 }) }, 400],
    [
      "user data that is not base64",
      "/v1/vms",
      { method: "POST", body: JSON.stringify({ ...aVm("a"), userData: "%" }) },
      400,
    ],
    ["a filter that is no JSON", "/v1/vms?filter={", {}, 400],
    ["a revision that is no number", "/v1/changes?revision=-1", {}, 400],
    ["a huge body", "/v1/vms", { method: "POST", body: `"${"x".repeat(2 ** 20)}"` }, 400],
    ["an action that does not exist", "/v1/vms/a/power", { method: "POST", body: '{"action":"explode"}' }, 400],
  ])("refuses %s in JSON and lives on", async (_what, path, init, status) => {
    const response = await fetch(new URL(path, url), init);
    expect(response.status).toBe(status);
    await expect(response.json()).resolves.toMatchObject({ error: { message: expect.stringMatching(/./) } });
    await expect(client.listVms()).resolves.toEqual([]);
  });

  it.each([
    ["through a name of someone else", { host: "evil.example" }],
    ["from a web page", { origin: "http://127.0.0.1:3000" }],
    ["from a sandboxed web page", { origin: "null" }],
  ])("refuses a request that came %s", async (_, headers) => {
    const { request } = await import("node:http");
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(new URL("/v1/vms", url), { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it("answers a health probe", async () => {
    await expect((await fetch(new URL("/v1/healthz", url))).json()).resolves.toEqual({ status: "ok" });
  });

  it("asks for its token and accepts it", async () => {
    const guarded = createCloudServer(cloud, { token: Secret.of("right") });
    const { url } = await guarded.listen();
    await expect(createCloudClient({ endpoint: url }).listVms()).rejects.toMatchObject({ code: "Unauthenticated" });
    await expect(createCloudClient({ endpoint: url, token: Secret.of("right") }).listVms()).resolves.toEqual([]);
    await guarded.close();
  });

  it("reports in one line that a port is in use", async () => {
    const second = createCloudServer(cloud);
    const port = Number(new URL(url).port);
    const error = await second.listen({ port }).catch((thrown: unknown) => thrown);
    expect(isConfigError(error)).toBe(true);
    expect(String(error)).toContain(`port ${port} for the simulated cloud is in use by another process`);
  });
});

describe("cloud client", () => {
  let server: Server | undefined;
  const serve = (answer: Parameters<typeof createServer>[1]): Promise<string> =>
    new Promise((resolve) => {
      const listening = createServer(answer);
      server = listening;
      listening.listen(0, "127.0.0.1", () => {
        const address = listening.address();
        resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
      });
    });
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  it("repeats a read whose idle connection the server has just closed, but no creation", async () => {
    const served = new WeakSet<object>();
    const endpoint = await serve((request, response) => {
      if (served.has(request.socket)) return void request.socket.resetAndDestroy();
      served.add(request.socket);
      return void request.resume().on("end", () => response.end('{"vms":[]}'));
    });
    const client = createCloudClient({ endpoint });
    for (let count = 0; count < 4; count++) await expect(client.listVms()).resolves.toEqual([]);
    await expect(client.createVm(aVm("a"))).rejects.toMatchObject({ code: "Unavailable" });
  });

  it.each<[string, Parameters<typeof createServer>[1], string]>([
    ["an HTML error page", (_request, response) => void response.writeHead(502).end("<html>"), "Unavailable"],
    ["truncated JSON", (_request, response) => void response.end('{"vms":['), "Unavailable"],
    ["JSON of another shape", (_request, response) => void response.end('{"vms":[{"id":1}]}'), "Unavailable"],
    [
      "an error code that does not exist",
      (_request, response) => void response.writeHead(400).end('{"error":{"code":"Teapot","message":"x"}}'),
      "Unavailable",
    ],
    [
      "a redirect",
      (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "Unavailable",
    ],
    [
      "a connection cut in mid-reply",
      (_request, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("{");
        setImmediate(() => response.destroy());
      },
      "Unavailable",
    ],
    ["a connection cut at once", (request) => void request.socket.destroy(), "Unavailable"],
    ["no reply at all", () => undefined, "DeadlineExceeded"],
    [
      "a body that never ends",
      (_request, response) => {
        response.write("{");
      },
      "DeadlineExceeded",
    ],
  ])("answers %s with a contract code", async (_what, answer, code) => {
    // Only what never answers is given up for its time.
    const timeoutMs = code === "DeadlineExceeded" ? 150 : 30_000;
    const client = createCloudClient({ endpoint: await serve(answer), timeoutMs });
    await expect(client.listVms()).rejects.toMatchObject({ name: "CloudError", code });
  });

  it("refuses an endless reply instead of reading it", async () => {
    const endpoint = await serve((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const more = (): void => {
        if (!response.destroyed) response.write(chunk, () => setImmediate(more));
      };
      more();
    });
    await expect(createCloudClient({ endpoint }).listVms()).rejects.toThrow(
      /sent a response of more than 67108864 bytes/,
    );
  });

  it.each(["http://example.com", "https://127.0.0.1", "http://127.0.0.1:1/path", "not a url", ""])(
    "does not talk to %s",
    (endpoint) => {
      expect(() => createCloudClient({ endpoint })).toThrow(/must be an http URL on 127\.0\.0\.1/);
    },
  );
});
