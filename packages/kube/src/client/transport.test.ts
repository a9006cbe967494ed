import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { ClusterConfig, TlsMaterial } from "../connection/cluster-config.ts";
import { nodeResource, podResource } from "../objects/built-in-resources.ts";
import { answer, serve, servedNode as node } from "../testing/served-client.ts";
import type { ApiClient } from "./api-client.ts";
import { isTooManyRequests, isUnanswered } from "./api-error.ts";

const busy = { kind: "Status", code: 429, reason: "TooManyRequests", message: "slow down" };

test("opens no further connection for 200 requests in a row", async () => {
  const { server, api } = await serve((_, response) => answer(response, 200, node));
  for (let i = 0; i < 200; i++) await api.get(nodeResource, { name: "a" });
  expect(server.requests).toHaveLength(200);
  // undici frees a connection a turn after it hands out the body, so that the second request may open a second one.
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test("opens no further connection for deletions that name the UID", async () => {
  const { server, api } = await serve((_, response) => answer(response, 200, node));
  for (let i = 0; i < 50; i++) await api.delete(nodeResource, { name: "a" }, { uid: "1" });
  expect(server.requests).toHaveLength(50);
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test("uses no more connections at once than it is allowed", async () => {
  const { server, api } = await serve((_, response) => void setTimeout(() => answer(response, 200, node), 5), {
    maxConnections: 4,
  });
  await Promise.all(Array.from({ length: 100 }, () => api.get(nodeResource, { name: "a" })));
  expect(server.connections()).toBeLessThanOrEqual(4);
});

test("waits for Retry-After and repeats a write that the server did not process", async () => {
  let count = 0;
  const { server, api } = await serve((_, response) => {
    if (count++ < 2) answer(response, 429, busy, { "retry-after": "0" });
    else answer(response, 201, node);
  });
  await api.create(nodeResource, { metadata: { name: "a" } });
  expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
});

test("really waits before it repeats", async () => {
  const times: number[] = [];
  const { api } = await serve((_, response) => {
    times.push(performance.now());
    if (times.length === 1) answer(response, 429, busy, { "retry-after": "1" });
    else answer(response, 200, node);
  });
  await api.get(nodeResource, { name: "a" });
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
});

test("repeats a bounded number of times and then gives the server's answer with the time it asked for", async () => {
  const { server, api } = await serve((_, response) => answer(response, 429, busy, { "retry-after": "0" }));
  const error = await api.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(isTooManyRequests(error)).toBe(true);
  expect(error).toMatchObject({ message: "slow down", retryAfterMs: 0 });
  expect(server.requests).toHaveLength(4);
});

test("gives the error at once when the server asks for a longer wait than a worker should be held", async () => {
  const { server, api } = await serve((_, response) => answer(response, 429, busy, { "retry-after": "60" }));
  await expect(api.get(nodeResource, { name: "a" })).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 });
  expect(server.requests).toHaveLength(1);
});

test("does not repeat an eviction that a disruption budget forbids", async () => {
  const refusal = { ...busy, details: { causes: [{ reason: "DisruptionBudget", message: "needs 2" }] } };
  const { server, api } = await serve((_, response) => answer(response, 429, refusal, { "retry-after": "0" }));
  const eviction = { metadata: { name: "p", namespace: "n" } };
  await expect(api.create(podResource, eviction, { subresource: "eviction" })).rejects.toMatchObject({ status: 429 });
  expect(server.requests.map(({ url }) => url)).toEqual(["/api/v1/namespaces/n/pods/p/eviction"]);
});

test("does not repeat a write after 503, because it may have been carried out", async () => {
  const { server, api } = await serve((_, response) => answer(response, 503, "", { "retry-after": "0" }));
  await expect(api.create(nodeResource, { metadata: { name: "a" } })).rejects.toMatchObject({ status: 503 });
  expect(server.requests).toHaveLength(1);
});

test("survives a pooled connection that the server closed", async () => {
  let count = 0;
  const { api } = await serve((_, response) => {
    if (count++ === 1) response.socket?.destroy();
    else answer(response, 200, node);
  });
  await api.get(nodeResource, { name: "a" });
  await expect(api.get(nodeResource, { name: "a" })).resolves.toMatchObject(node);
});

test("survives that the server closes the kept connection of a watch as the next one takes it, but not twice in a row", async () => {
  let broken: number[] = [1];
  let count = 0;
  const { server, api } = await serve((_, response) => {
    if (broken.includes(count++)) response.socket?.destroy();
    else answer(response, 200, `${JSON.stringify({ type: "ADDED", object: node })}\n`);
  });
  const watch = async () => {
    for await (const event of api.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal))
      expect(event.object).toMatchObject(node);
  };
  await watch();
  await expect(watch()).resolves.toBeUndefined();
  expect(server.requests).toHaveLength(3);
  broken = [3, 4];
  await expect(watch()).rejects.toMatchObject({ reason: "Unreachable" });
  expect(server.requests).toHaveLength(5);
});

test("sends what waits for a connection although the certificate is replaced meanwhile", async () => {
  let tls: TlsMaterial = {};
  const responses: ServerResponse[] = [];
  const { server, api } = await serve(
    (_, response) => void responses.push(response),
    { maxConnections: 2 },
    (url) => ({ server: url, current: async () => ({ server: url, tls }) }),
  );
  const write = () => api.create(nodeResource, { metadata: { name: "a" } });
  const pending = Array.from({ length: 4 }, write);
  await expect.poll(() => responses.length).toBe(2);
  tls = { serverName: "other" };
  pending.push(write());
  for (let count = 0; count < 5; count++) {
    await expect.poll(() => responses.length).toBeGreaterThan(0);
    const response = responses.shift();
    if (response !== undefined) answer(response, 201, node);
  }
  await expect(Promise.all(pending)).resolves.toHaveLength(5);
  expect(server.requests).toHaveLength(5);
});

test("fails with a timeout when there is no response within the deadline", async () => {
  const { api } = await serve(() => {}, { timeoutMs: 50 });
  const error = await api.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(isUnanswered(error)).toBe(true);
  expect(error).toMatchObject({
    reason: "ClientTimeout",
    message: "GET /api/v1/nodes/a: no response from the API server within 50 ms",
  });
});

test("fails with a timeout when the body stops in the middle", async () => {
  const { api } = await serve(
    (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"metadata":');
    },
    { timeoutMs: 50 },
  );
  await expect(api.get(nodeResource, { name: "a" })).rejects.toMatchObject({ reason: "ClientTimeout" });
});

test("rejects with the reason of the caller's signal", async () => {
  const { api } = await serve(() => {});
  const stop = new AbortController();
  const pending = api.get(nodeResource, { name: "a" }, { signal: stop.signal });
  const reason = new Error("stopping");
  setTimeout(() => stop.abort(reason), 20);
  await expect(pending).rejects.toBe(reason);
  await expect(api.get(nodeResource, { name: "a" }, { signal: stop.signal })).rejects.toBe(reason);
});

test("reports an unreachable server when the connection is refused", async () => {
  const { server, api } = await serve(() => {});
  await server.close();
  const error = await api.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
  expect(String(error)).toMatch(/GET \/api\/v1\/nodes\/a: the API server is unreachable: .*ECONNREFUSED/);
});

test("has connectivity with the server from any answer on, refusals too, until it finds none", async () => {
  let status = 404;
  const { server, api } = await serve((_, response) => answer(response, status, { kind: "Status", code: status }));
  const ask = () => api.get(nodeResource, { name: "a" }).catch(() => undefined);
  const heard: number[] = [];
  api.connectivity?.onRegained((lostForMs) => heard.push(lostForMs));
  status = 503;
  await ask();
  expect(heard).toHaveLength(0);
  status = 404;
  await ask();
  await ask();
  expect(heard).toHaveLength(1);
  expect(api.connectivity?.lostForMs()).toBe(0);
  await server.close();
  await ask();
  expect(api.connectivity?.lostForMs()).toBeGreaterThan(0);
});

test("sends the current credentials and the user agent", async () => {
  let count = 0;
  const credentials = async () => ({ headers: { authorization: `Bearer ${++count}` } });
  const { server, api } = await serve(
    (_, response) => answer(response, 200, node),
    { userAgent: "me/1" },
    (url) => ({ server: `${url}/prefix/`, credentials }),
  );
  await api.get(nodeResource, { name: "a" });
  await api.get(nodeResource, { name: "a" });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  expect(server.requests[0]).toMatchObject({ url: "/prefix/api/v1/nodes/a", headers: { "user-agent": "me/1" } });
});

test("refuses to work after it was closed", async () => {
  const { api } = await serve((_, response) => answer(response, 200, node));
  await api.get(nodeResource, { name: "a" });
  await api.close();
  await expect(api.get(nodeResource, { name: "a" })).rejects.toThrow("the API client is closed");
});

test("fetches new credentials once after 401, for requests and for watches, and then lets the refusal stand", async () => {
  const asks: ((api: ApiClient) => Promise<unknown>)[] = [
    (api) => api.get(nodeResource, { name: "a" }),
    async (api) => {
      for await (const event of api.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal))
        return event.object;
      return undefined;
    },
  ];
  for (const ask of asks) {
    let good = "new";
    let token = "old";
    const fetched = ["new", "worse", "worse"];
    const credentials: ClusterConfig["credentials"] = async (_, refused) => {
      if (refused !== undefined) token = fetched.shift() ?? "";
      return { headers: { authorization: token } };
    };
    const { server, api } = await serve(
      ({ headers, url }, response) => {
        if (headers.authorization !== good) answer(response, 401, { kind: "Status", code: 401, message: "who?" });
        else if (url.includes("watch=true"))
          answer(response, 200, `${JSON.stringify({ type: "ADDED", object: node })}\n`);
        else answer(response, 200, node);
      },
      {},
      (url) => ({ server: url, credentials }),
    );
    const sent = () => server.requests.splice(0).map(({ headers }) => headers.authorization);
    await expect(ask(api)).resolves.toMatchObject(node);
    expect(sent()).toEqual(["old", "new"]);
    good = "newer";
    await expect(ask(api)).rejects.toMatchObject({ status: 401 });
    expect(sent()).toEqual(["new", "worse"]);
    // The same came back: it is not sent again.
    await expect(ask(api)).rejects.toMatchObject({ status: 401 });
    expect(sent()).toEqual(["worse"]);
  }
});

test("asks a server that is overloaded less, and recovers", async () => {
  let isBusy = true;
  let most = 0;
  let underway = 0;
  const { api } = await serve((_, response) => {
    most = Math.max(most, ++underway);
    setTimeout(() => {
      underway--;
      if (isBusy) answer(response, 429, busy);
      else answer(response, 200, node);
    }, 3);
  });
  const ask = (count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => api.get(nodeResource, { name: "a" })));
  await ask(28);
  expect(api.load?.().limit).toBeLessThanOrEqual(4);
  isBusy = false;
  most = 0;
  await ask(10);
  expect(most).toBeLessThan(16);
  await ask(200);
  expect(api.load?.().limit).toBeGreaterThan(8);
  expect(api.load?.()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("shows each attempt to an observer by verb and kind, with its status, waits and repetitions, until that ends", async () => {
  let count = 0;
  const { api } = await serve((_, response) => {
    if (count++ === 1) answer(response, 429, busy, { "retry-after": "0" });
    else if (count === 4) response.destroy();
    else answer(response, count === 1 ? 404 : 200, count === 1 ? { kind: "Status", code: 404 } : node);
  });
  const seen: string[] = [];
  const end = api.observe?.({
    waited: ({ verb, resource }, ms) => seen.push(`waited ${verb} ${resource} ${ms >= 0}`),
    answered: ({ verb, resource }, status, ms) => seen.push(`answered ${verb} ${resource} ${status} ${ms > 0}`),
    retried: ({ verb, resource }, status) => seen.push(`retried ${verb} ${resource} ${status}`),
  });
  await api.get(nodeResource, { name: "secret-name" }).catch(() => undefined);
  await api.create(nodeResource, { metadata: { name: "a" } });
  await api.delete(nodeResource, { name: "a" }).catch(() => undefined);
  expect(seen).toEqual([
    "waited GET nodes true",
    "answered GET nodes 404 true",
    "waited POST nodes true",
    "answered POST nodes 429 true",
    "retried POST nodes 429",
    "waited POST nodes true",
    "answered POST nodes 200 true",
    "waited DELETE nodes true",
    "answered DELETE nodes undefined true",
  ]);
  end?.();
  await api.get(nodeResource, { name: "a" });
  expect(seen).toHaveLength(9);
});
