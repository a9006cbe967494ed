import { createServer, type Server } from "node:http";
import { systemClock } from "@millwright/base";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { htmlPage } from "./fault.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

const text = "an answer of the cloud";
const outcome = (call: Promise<Response>): Promise<string> =>
  call.then(
    async (response) => `${response.status} ${await response.text()}`,
    () => "no answer",
  );

describe("the fault proxy", () => {
  let cloud: Server;
  let proxy: FaultProxy;
  const received: string[] = [];
  const hosts: (string | undefined)[] = [];

  beforeEach(async () => {
    received.length = 0;
    cloud = createServer((request, response) => {
      hosts.push(request.headers.host);
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        received.push(`${request.method} ${request.url} ${body}`);
        response.writeHead(201, { "x-cloud": "yes" });
        response.end(text);
      });
    });
    await new Promise<void>((resolve) => cloud.listen(0, "127.0.0.1", resolve));
    const address = cloud.address();
    const port = typeof address === "object" ? address?.port : 0;
    proxy = await startFaultProxy({ upstream: `http://127.0.0.1:${port}`, clock: systemClock });
  });
  afterEach(async () => {
    await proxy.close();
    cloud.closeAllConnections();
    await new Promise((resolve) => cloud.close(resolve));
  });

  it("forwards requests with their Host, and answers with their headers", async () => {
    const response = await fetch(`${proxy.url}/vms?a=b`, { method: "POST", body: "x" });
    expect([response.status, response.headers.get("x-cloud"), await response.text()]).toEqual([201, "yes", text]);
    expect(received).toEqual(["POST /vms?a=b x"]);
    expect(hosts.at(-1)).toBe(new URL(proxy.url).host);
    expect(proxy.requests).toEqual([{ method: "POST", path: "/vms?a=b" }]);
  });

  it("closes the connection before or after the cloud has the request", async () => {
    proxy.plan((index) => ({ kind: index === 0 ? "cut-before" : "cut-after" }));
    // undici repeats neither.
    expect(await outcome(fetch(proxy.url, { method: "POST", body: "first" }))).toBe("no answer");
    expect(received).toEqual([]);
    expect(await outcome(fetch(proxy.url, { method: "POST", body: "second" }))).toBe("no answer");
    expect(received).toEqual(["POST / second"]);
  });

  it("cuts answers in half", async () => {
    proxy.plan(() => ({ kind: "truncate" }));
    await expect(fetch(proxy.url).then((response) => response.text())).rejects.toThrow("terminated");
    expect(received).toHaveLength(1);
  });

  it("answers for the cloud", async () => {
    proxy.plan(() => htmlPage(502));
    expect(await outcome(fetch(proxy.url))).toMatch(/^502 <html>/);
    expect(received).toEqual([]);
  });

  it("does not answer, or answers byte by byte, until the client disconnects", async () => {
    for (const kind of ["hang", "slow"] as const) {
      proxy.plan(() => ({ kind }));
      const stop = new AbortController();
      const call = fetch(proxy.url, { signal: stop.signal }).then((response) => response.text());
      systemClock.setTimer(50, () => stop.abort());
      await expect(call).rejects.toThrow(/abort/i);
    }
    expect(received).toEqual([]);
  });

  it("counts how much of a large answer the client took", async () => {
    proxy.plan(() => ({ kind: "large", bytes: 4 * 1_048_576 }));
    expect((await (await fetch(proxy.url)).text()).length).toBe(4 * 1_048_576);
    expect(proxy.largeBytes).toBe(4 * 1_048_576);
    proxy.plan();
    expect([proxy.largeBytes, proxy.requests.length]).toEqual([0, 0]);
  });

  it("reports when the cloud has answered what was forwarded, also to clients that are gone", async () => {
    const stop = new AbortController();
    proxy.plan(() => {
      stop.abort();
      return undefined;
    });
    expect(await outcome(fetch(proxy.url, { method: "POST", body: "x", signal: stop.signal }))).toBe("no answer");
    await proxy.idle();
    expect(received.length).toBeLessThanOrEqual(1);
    expect(proxy.requests).toHaveLength(1);
  });
});
