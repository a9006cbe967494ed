import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { systemClock } from "@millwright/base";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { type EndpointOptions, type Endpoints, serveEndpoints } from "./endpoints.ts";

const open: Endpoints[] = [];
afterEach(() => Promise.all(open.splice(0).map((endpoints) => endpoints.close())));

const serve = async (options: Partial<EndpointOptions> = {}): Promise<Endpoints & { readonly url: string }> => {
  const endpoints = await serveEndpoints({
    address: "127.0.0.1",
    port: 0,
    async *metrics() {
      yield "mcm_machine_items_total 3\n";
      yield "mcm_machine_set_items_total 4 é\n";
    },
    stallMs: 0,
    clock: systemClock,
    log: () => undefined,
    ...options,
  });
  open.push(endpoints);
  return { ...endpoints, url: `http://127.0.0.1:${endpoints.port}` };
};

it("answers MCM's health probe", async () => {
  const { url } = await serve();
  const response = await fetch(`${url}/healthz`);
  expect([response.status, await response.text()]).toEqual([200, "OK"]);
});

it("serves the metrics in Prometheus' format, with and without a query", async () => {
  const { url } = await serve();
  for (const path of ["/metrics", "/metrics?name=x"]) {
    const response = await fetch(`${url}${path}`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toBe("mcm_machine_items_total 3\nmcm_machine_set_items_total 4 é\n");
  }
});

it("serves nothing else", async () => {
  const { url } = await serve();
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
  const head = await fetch(`${url}/healthz`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

it("serves the metrics only with a token that is reviewed, and probes without one", async () => {
  const reviewToken = vi.fn<NonNullable<EndpointOptions["reviewToken"]>>((token) => {
    if (token === "broken") return Promise.reject(new Error("connect ECONNREFUSED"));
    return Promise.resolve(token === "good" ? undefined : { status: 403, text: "this user may not get /metrics" });
  });
  const { url } = await serve({ reviewToken });
  const read = async (token?: string): Promise<string> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/metrics`, { headers });
    return `${response.status} ${await response.text()}`;
  };
  expect(await read()).toBe("401 a bearer token is required\n");
  expect(await read("bad")).toBe("403 this user may not get /metrics\n");
  expect(await read("broken")).toMatch(/^503 the token cannot be reviewed/);
  expect(await read("good")).toMatch(/^200 mcm_machine_items_total 3/);
  expect(await read("good")).toMatch(/^200/);
  expect(reviewToken).toHaveBeenCalledTimes(3);
  for (let token = 0; token < 50; token++) await read(`random-${token}`);
  const flood = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer one-more" } });
  expect([flood.status, Number(flood.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  expect(reviewToken.mock.calls.length).toBeLessThan(30);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await read("good")).toMatch(/^200/);
});

it("reports that metrics cannot be read, without the reason, and goes on", async () => {
  const errors: unknown[] = [];
  const { url } = await serve({
    async *metrics() {
      yield "mcm_machine_items_total 3\n";
      throw new Error("a value with a secret");
    },
    log: (_level, _message, fields) => errors.push(fields?.["error"]),
  });
  const response = await fetch(`${url}/metrics`);
  expect([response.status, await response.text()]).toEqual([500, "the metrics cannot be read: see the log\n"]);
  expect(errors).toEqual([new Error("a value with a secret")]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

it("is ready when the last report names no problem, and lists them else", async () => {
  const { url, report } = await serve();
  const ready = async (): Promise<string> => {
    const response = await fetch(`${url}/readyz`);
    return `${response.status} ${await response.text()}`;
  };
  expect(await ready()).toBe("503 the process is starting\n");
  report({ problems: [], running: [] });
  await expect.poll(ready).toBe("200 OK");
  report({ problems: ["waiting for the first list of nodes", "another"], running: [] });
  await expect.poll(ready).toBe("503 waiting for the first list of nodes\nanother\n");
});

it("answers probes beside clients that send huge headers, and beside hundreds that send nothing or do not read", async () => {
  const { url, port } = await serve({
    async *metrics() {
      for (let part = 0; part < 200; part++) yield `${"x".repeat(65_536)}\n`;
    },
  });
  const sockets = Array.from({ length: 300 }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const [index, socket] of sockets.entries()) {
    socket.on("error", () => undefined);
    if (index % 3 === 1) socket.write("GET /metrics HTTP/1.1\r\nx-endless: ");
    if (index % 3 === 2) socket.pause().write("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n");
  }
  const flood = await fetch(`${url}/healthz`, { headers: { "x-flood": "y".repeat(64_000) } });
  expect(flood.status).toBe(431);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

it("serves all addresses on ::, of both families where the machine has both", async () => {
  const { port } = await serve({ address: "::" });
  const hasIPv6 = Object.values(networkInterfaces()).some((own) => own?.some(({ family }) => family === "IPv6"));
  for (const host of ["127.0.0.1", ...(hasIPv6 ? ["[::1]"] : [])])
    expect((await fetch(`http://${host}:${port}/healthz`)).status).toBe(200);
});

it("names the flag when the port or the address cannot be used", async () => {
  const { port } = await serve();
  await expect(serve({ port })).rejects.toThrow(`--port: ${port} of 127.0.0.1 is in use; choose another port`);
  await expect(serve({ address: "192.0.2.1" })).rejects.toThrow(
    "--address: 192.0.2.1 is not an address of this machine",
  );
});

it("reads the metrics once for all who ask at the same time", async () => {
  let reads = 0;
  let go = Promise.withResolvers<void>();
  const { url } = await serve({
    async *metrics() {
      reads += 1;
      yield "a 1\n";
      await go.promise;
      yield `b ${reads}\n`;
    },
  });
  // Which of several connections is served first is not certain: both requests meet in one of the attempts.
  await expect
    .poll(async () => {
      reads = 0;
      go = Promise.withResolvers();
      const both = [fetch(`${url}/metrics`), fetch(`${url}/metrics`)];
      await fetch(`${url}/healthz`);
      setTimeout(go.resolve, 50);
      return [...(await Promise.all(both.map(async (response) => (await response).text()))), reads];
    })
    .toEqual(["a 1\nb 1\n", "a 1\nb 1\n", 1]);
});
