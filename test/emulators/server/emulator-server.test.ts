import { createVirtualClock } from "@millwright/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import type { Emulator, EmulatorRequest, Exchange } from "./emulator.ts";
import { createEmulatorServer, type EmulatorServer, type EmulatorServerOptions } from "./emulator-server.ts";

const servers: EmulatorServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** A cloud that counts its requests. */
async function aServer(
  options: EmulatorServerOptions = {},
  answer?: Emulator["answer"],
  more: Pick<Emulator, "findDifferences"> = {},
) {
  const done: string[] = [];
  const emulator: Emulator = {
    identify: ({ url, headers }) => ({
      operation: url.pathname.slice(1),
      subjects: [url.search],
      ...(typeof headers["x-account"] === "string" ? { account: headers["x-account"] } : {}),
    }),
    answer:
      answer ??
      (({ url, body }) => {
        done.push(url.pathname);
        return { status: 200, headers: { "content-type": "text/plain" }, body: `did ${url.pathname} ${body}` };
      }),
    refuse: ({ code, status = 400, message = "", retryAfterS }) => ({
      status,
      headers: retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) },
      body: `${code}: ${message}`,
    }),
    throttled: { code: "SlowDown", status: 503, retryAfterS: 2 },
    ...more,
  };
  const server = createEmulatorServer(emulator, options);
  servers.push(server);
  const { url } = await server.listen();
  return { server, url, done };
}

/** A timeout for polls on a busy computer. */
const pollTimes = { timeout: 10_000 };

describe("the server of an emulator", () => {
  it("responds, and logs requests and their outcomes", async () => {
    const { server, url } = await aServer();
    expect(await (await fetch(`${url}/make?a`, { method: "POST", body: "x" })).text()).toBe("did /make x");
    expect(server.log.requests).toMatchObject([
      { operation: "make", method: "POST", path: "/make?a", body: "x", end: 200, inFlight: 1 },
    ]);
    expect([server.log.count("make"), server.log.count("other"), server.log.count()]).toEqual([1, 0, 1]);
    server.log.clear();
    expect(server.log.count()).toBe(0);
  });

  it("injects errors, before or after the effect of a request", async () => {
    const { server, url, done } = await aServer();
    const end = { kind: "refuse", refusal: { code: "Nope", status: 418, message: "no", retryAfterS: 9 } } as const;
    server.faults.add({ operation: "make", end });
    server.faults.add({ operation: "make", end, afterAcceptance: true });
    const first = await fetch(`${url}/make`);
    expect([first.status, first.headers.get("retry-after"), await first.text()]).toEqual([418, "9", "Nope: no"]);
    expect(done).toEqual([]);
    expect((await fetch(`${url}/make`)).status).toBe(418);
    expect(done).toEqual(["/make"]);
    expect((await fetch(`${url}/make`)).status).toBe(200);
  });

  it("injects responses of a proxy", async () => {
    const { server, url } = await aServer();
    const reply = { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad gateway" };
    server.faults.add({ operation: "*", end: { kind: "reply", reply } });
    const response = await fetch(`${url}/make`);
    expect([response.status, await response.text()]).toEqual([502, "<html>bad gateway"]);
  });

  it("injects connection resets, before or after the effect of a request", async () => {
    const { server, url, done } = await aServer();
    server.faults.add({ operation: "*", end: { kind: "reset" } });
    server.faults.add({ operation: "*", end: { kind: "reset" }, afterAcceptance: true });
    await expect(fetch(`${url}/make`)).rejects.toThrow("fetch failed");
    expect(done).toEqual([]);
    await expect(fetch(`${url}/make`)).rejects.toThrow("fetch failed");
    expect(done).toEqual(["/make"]);
    expect(server.log.requests.map(({ end }) => end)).toEqual(["reset", "reset"]);
  });

  it("injects missing responses until the client disconnects", async () => {
    const { server, url, done } = await aServer();
    server.faults.add({ operation: "*", end: { kind: "hang" } });
    const stop = new AbortController();
    const asked = fetch(`${url}/make`, { signal: stop.signal }).then(String, String);
    await expect.poll(() => server.log.count(), pollTimes).toBe(1);
    stop.abort();
    expect(await asked).toContain("aborted");
    await expect.poll(() => server.log.requests[0]?.end, pollTimes).toBe("hang");
    expect(done).toEqual([]);
  });

  it("injects truncated responses", async () => {
    const { server, url, done } = await aServer();
    server.faults.add({ operation: "*", end: { kind: "truncate" } });
    await expect(fetch(`${url}/make`).then((response) => response.text())).rejects.toThrow("terminated");
    expect(done).toEqual(["/make"]);
  });

  it("injects incomplete responses until the client disconnects", async () => {
    const { server, url, done } = await aServer();
    server.faults.add({ operation: "*", end: { kind: "stall" } });
    const stop = new AbortController();
    const response = await fetch(`${url}/make`, { signal: stop.signal });
    const body = response.text().then(String, String);
    await expect.poll(() => done, pollTimes).toEqual(["/make"]);
    expect(server.log.requests[0]?.end).toBeUndefined();
    stop.abort();
    expect(await body).toContain("aborted");
    await expect.poll(() => server.log.requests[0]?.end, pollTimes).toBe("stalled");
  });

  it("delays responses by its clock", async () => {
    const clock = createVirtualClock();
    const { server, url } = await aServer({ clock, latencyMs: 1_000 });
    const answered = fetch(`${url}/make`);
    await expect.poll(() => clock.pending(), pollTimes).toBe(1);
    expect(server.log.requests[0]?.end).toBeUndefined();
    await clock.advance(1_000);
    expect((await answered).status).toBe(200);
  });

  it("throttles an account without affecting others", async () => {
    const clock = createVirtualClock();
    const { url } = await aServer({ clock, throttle: { burst: 2, perSecond: 1 } });
    const ask = async (account: string) => (await fetch(`${url}/make`, { headers: { "x-account": account } })).status;
    expect([await ask("a"), await ask("a"), await ask("a"), await ask("b")]).toEqual([200, 200, 503, 200]);
    await clock.advance(1_000);
    expect(await ask("a")).toBe(200);
  });

  it("throttles only the configured operations", async () => {
    const { url } = await aServer({ throttle: { burst: 1, perSecond: 0, operations: ["make"] } });
    const ask = async (operation: string) => (await fetch(`${url}/${operation}`)).status;
    expect([await ask("make"), await ask("look"), await ask("look"), await ask("make")]).toEqual([200, 200, 200, 503]);
  });

  it("records errors of the emulator for the test", async () => {
    const { server, url } = await aServer({}, () => {
      throw new Error("a bug");
    });
    expect((await fetch(`${url}/make`)).status).toBe(500);
    expect(server.failures).toEqual([new Error("a bug")]);
  });

  it("compares requests and responses with the vendor's model, and records each difference once", async () => {
    const answer = ({ url }: EmulatorRequest) => ({ status: 200, body: url.search });
    const seen: (readonly [string, string | undefined])[] = [];
    const findDifferences = ({ operation, request, reply }: Exchange) => {
      seen.push([operation, reply?.body]);
      return request.body === "unknown" ? ["body: unknown field"] : [];
    };
    const { server, url } = await aServer({}, answer, { findDifferences });
    const end = { kind: "refuse", refusal: { code: "Nope" } } as const;
    server.faults.add({ operation: "refused", end });
    server.faults.add({ operation: "lost", end: { kind: "reset" } });
    server.faults.add({ operation: "half", end: { kind: "truncate" } });
    server.faults.add({ operation: "replaced", end: { kind: "reply", reply: { status: 502, body: "proxy" } } });
    for (const path of ["make?a", "refused", "lost", "half?b", "replaced"]) {
      await fetch(`${url}/${path}`, { method: "POST", body: "unknown" })
        .then((response) => response.text())
        .catch(() => undefined);
    }
    await fetch(`${url}/make`, { method: "POST", body: "unknown" });
    await fetch(`${url}/make`, { method: "POST", body: "known" });
    expect(seen).toEqual([
      ["make", "?a"],
      ["refused", "Nope: "],
      ["lost", undefined],
      ["half", "?b"],
      ["replaced", undefined],
      ["make", ""],
      ["make", ""],
    ]);
    expect(server.failures.map(String)).toEqual(
      ["make", "refused", "lost", "half", "replaced"].map((operation) => `Error: ${operation}: body: unknown field`),
    );
  });

  it("counts requests in flight", async () => {
    const clock = createVirtualClock();
    const { server, url } = await aServer({ clock, latencyMs: 30 });
    const answers = Promise.all(Array.from({ length: 5 }, () => fetch(`${url}/make`)));
    await expect.poll(() => clock.pending(), pollTimes).toBe(5);
    await clock.advance(30);
    await answers;
    expect(server.log.peakInFlight).toBe(5);
  });
});
