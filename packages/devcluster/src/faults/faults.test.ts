import { beforeEach, expect, test } from "vitest";
import { stringAt } from "../json/json.ts";
import { startServer, type TestServer, versionOf } from "../testing/start-server.ts";

let server: TestServer;
const maps = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ metadata: { name } });

beforeEach(async () => {
  server = await startServer();
});

/** A watch from now on that is known to be open. */
async function openWatch(query = "") {
  const { body } = await server.call("GET", maps);
  const watch = server.watch(`${maps}?watch=1&resourceVersion=${versionOf(body)}${query}`);
  await server.call("POST", maps, map("first"));
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "first" } } });
  return watch;
}

async function millisecondsOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

test.each([409, 410, 429, 500, 503])("fails with %i the given number of times, then serves again", async (code) => {
  const fault = server.server.faults.add({
    match: { verbs: ["get"], resources: ["nodes"] },
    effect: { kind: "status", code, retryAfterSeconds: 7 },
    times: 2,
  });
  const first = await server.call("GET", "/api/v1/nodes/a");
  expect(first).toMatchObject({ code, body: { kind: "Status", code, details: { retryAfterSeconds: 7 } } });
  expect(first.headers.get("retry-after")).toBe("7");
  expect((await server.call("GET", "/api/v1/nodes")).code).toBe(200);
  expect((await server.call("GET", "/api/v1/nodes/a")).code).toBe(code);
  expect((await server.call("GET", "/api/v1/nodes/a")).code).toBe(404);
  expect(fault.hits).toBe(2);
});

test("delays requests of one user agent only", async () => {
  const fault = server.server.faults.add({ match: { userAgent: "slow" }, effect: { kind: "latency", ms: 150 } });
  const get = (agent: string) => server.call("GET", "/api/v1/nodes", undefined, { "user-agent": agent });
  expect(await millisecondsOf(() => get("slow-controller/1"))).toBeGreaterThan(140);
  expect(fault.hits).toBe(1);
  await get("quick");
  expect(fault.hits).toBe(1);
});

test("resets the connection before a write, which is not applied, or after it, when it is", async () => {
  const create = (name: string) => server.call("POST", maps, map(name));
  server.server.faults.add({ match: { verbs: ["create"] }, effect: { kind: "reset", when: "before" }, times: 1 });
  await expect(create("one")).rejects.toThrow(/./);
  expect((await server.call("GET", `${maps}/one`)).code).toBe(404);
  server.server.faults.add({ match: { verbs: ["create"] }, effect: { kind: "reset", when: "after" }, times: 1 });
  await expect(create("two")).rejects.toThrow(/./);
  expect((await server.call("GET", `${maps}/two`)).code).toBe(200);
});

test("a silent watch sends neither bytes nor its end", async () => {
  const watch = await openWatch("&timeoutSeconds=3");
  server.server.faults.add({ match: { verbs: ["watch"] }, effect: { kind: "silence" }, times: 1 });
  await server.call("POST", maps, map("lost"));
  const silence = new Promise((resolve) => setTimeout(() => resolve("silence"), 3_500));
  const next = watch.next().catch(() => "closed");
  expect(await Promise.race([next, silence])).toBe("silence");
  watch.close();
});

test("drops, duplicates and truncates lines of a watch", async () => {
  const watch = await openWatch();
  const { faults } = server.server;
  faults.add({ match: { resources: ["configmaps"] }, effect: { kind: "drop" }, times: 1 });
  await server.call("POST", maps, map("dropped"));
  faults.add({ effect: { kind: "duplicate" }, times: 1 });
  await server.call("POST", maps, map("doubled"));
  for (let copy = 0; copy < 2; copy += 1) {
    expect(await watch.next()).toMatchObject({ object: { metadata: { name: "doubled" } } });
  }
  faults.add({ effect: { kind: "truncate" }, times: 1 });
  await server.call("POST", maps, map("cut"));
  expect(await watch.next()).toBeUndefined();
});

test("slow lines keep their order, and pieces make up whole events", async () => {
  const watch = await openWatch();
  const { faults } = server.server;
  faults.add({ effect: { kind: "slow", ms: 100 }, times: 1 });
  faults.add({ effect: { kind: "pieces", count: 20 } });
  await server.call("POST", maps, { ...map("a"), data: { text: "äöü 🙂" } });
  await server.call("POST", maps, map("b"));
  expect(await watch.next()).toMatchObject({ object: { metadata: { name: "a" }, data: { text: "äöü 🙂" } } });
  expect(await watch.next()).toMatchObject({ object: { metadata: { name: "b" } } });
  watch.close();
});

test("a watch can get 410 in its stream", async () => {
  const watch = await openWatch();
  server.server.faults.add({ effect: { kind: "watch-error", code: 410 }, times: 1 });
  await server.call("POST", maps, map("unseen"));
  expect(await watch.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  expect(await watch.next()).toBeUndefined();
});

test("a partition resets running watches and new requests of one component until it is removed", async () => {
  const watch = await openWatch();
  const partition = server.server.faults.add({
    match: { headers: { "x-component": "a" } },
    effect: { kind: "partition" },
  });
  const get = (component: string) => server.call("GET", maps, undefined, { "x-component": component });
  await expect(get("a")).rejects.toThrow(/./);
  expect((await get("b")).code).toBe(200);
  partition.remove();
  expect((await get("a")).code).toBe(200);
  server.server.faults.add({ match: { verbs: ["watch"] }, effect: { kind: "partition" } });
  await expect(watch.next()).rejects.toThrow(/./);
});

test("lists the state of some versions ago, and a watch that begins with it gets what has changed since, once", async () => {
  await server.call("POST", maps, map("a"));
  const { body } = await server.call("GET", maps);
  await server.call("POST", maps, map("b"));
  await server.call("DELETE", `${maps}/a`);
  const match = { verbs: ["list", "watch"], resources: ["configmaps"] };
  const fault = server.server.faults.add({ match, effect: { kind: "stale-list", versions: 2 } });
  expect((await server.call("GET", maps)).body).toEqual(body);
  // The lagging member does not have the version that was seen elsewhere.
  expect(await server.call("GET", `${maps}?resourceVersion=${Number(versionOf(body)) + 1}`)).toMatchObject({
    code: 504,
  });
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const fromList = server.watch(`${maps}?${query}`);
  const fromVersion = server.watch(`${maps}?watch=1&resourceVersion=${versionOf(body)}`);
  const next = async (watch: typeof fromList, count: number): Promise<readonly string[]> => {
    const events = [];
    while (events.length < count) events.push(await watch.next());
    return events.map((event) => `${stringAt(event, "type")} ${stringAt(event, "object", "metadata", "name") ?? ""}`);
  };
  expect(await next(fromList, 4)).toEqual(["ADDED a", "BOOKMARK ", "ADDED b", "DELETED a"]);
  expect(await next(fromVersion, 2)).toEqual(["ADDED b", "DELETED a"]);
  fault.remove();
  await server.call("POST", maps, map("c"));
  for (const watch of [fromList, fromVersion]) expect(await next(watch, 1)).toEqual(["ADDED c"]);
});

test("affects requests with the given probability", async () => {
  const fault = server.server.faults.add({ effect: { kind: "status", code: 503 }, probability: 0.5 });
  const codes = await Promise.all(
    Array.from({ length: 200 }, async () => (await server.call("GET", "/api/v1/nodes")).code),
  );
  const struck = codes.filter((code) => code === 503).length;
  expect(struck).toBe(fault.hits);
  expect(struck).toBeGreaterThan(50);
  expect(struck).toBeLessThan(150);
});

test("sets and lists faults over HTTP", async () => {
  const add = await server.call("POST", "/millwright/faults", {
    match: { resources: ["nodes"] },
    effect: { kind: "status", code: 503 },
  });
  expect(add).toMatchObject({ code: 201, body: { id: "1", hits: 0 } });
  expect((await server.call("GET", "/api/v1/nodes")).code).toBe(503);
  expect((await server.call("GET", "/millwright/faults")).body).toMatchObject({ items: [{ id: "1", hits: 1 }] });
  expect((await server.call("DELETE", "/millwright/faults/1")).code).toBe(200);
  expect((await server.call("GET", "/api/v1/nodes")).code).toBe(200);
  expect((await server.call("DELETE", "/millwright/faults/1")).code).toBe(404);
});

test.each([
  [{ effect: { kind: "explode" } }, "effect.kind"],
  [{ effect: { kind: "latency" } }, "effect.ms"],
  [{ effect: { kind: "status", code: 200 } }, "effect.code"],
  [{ effect: { kind: "stale-list" } }, "effect.versions"],
  [{ effect: { kind: "drop" }, matches: {} }, "matches"],
  [{ effect: { kind: "drop" }, probability: 2 }, "probability"],
  [{ effect: { kind: "drop" }, match: { verbs: "get" } }, "match.verbs"],
])("rejects the fault %j and names the field", async (fault, field) => {
  const { code, body } = await server.call("POST", "/millwright/faults", fault);
  expect(code).toBe(400);
  expect(body["message"]).toContain(field);
});

test("writes timestamps of a skewed clock", async () => {
  await server.call("PUT", "/millwright/clock", { skewMs: 3_600_000 });
  const { body } = await server.call("POST", maps, map("early"));
  const created = Date.parse(stringAt(body, "metadata", "creationTimestamp") ?? "");
  expect(Math.abs(created - Date.now() - 3_600_000)).toBeLessThan(60_000);
});

test("comes back on the same port with its data, without the history, and watches end", async () => {
  const watch = await openWatch();
  const { body } = await server.call("GET", `${maps}/first`);
  await server.server.restart();
  await expect(watch.next().then((event) => event ?? Promise.reject(new Error("ended")))).rejects.toThrow(/./);
  expect((await server.call("GET", `${maps}/first`)).body).toEqual(body);
  expect(await server.watch(`${maps}?watch=1&resourceVersion=2`).next()).toMatchObject({
    type: "ERROR",
    object: { code: 410 },
  });
});

test("comes back empty when its data is lost, and works", async () => {
  await server.call("POST", maps, map("gone"));
  await server.call("POST", "/millwright/restart", { keepData: false, downMs: 50 });
  await expect
    .poll(async () => (await server.call("GET", `${maps}/gone`).catch(() => ({ code: 0 }))).code, { timeout: 5000 })
    .toBe(404);
  expect((await server.call("GET", "/api/v1/namespaces/default")).code).toBe(200);
  expect((await server.call("POST", maps, map("gone"))).code).toBe(201);
});
