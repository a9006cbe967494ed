import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { createApiClient } from "./api-client.ts";
import type { ApiClient, ApiClientOptions } from "./api-client.ts";
import { isConflict, isNotFound, isTooManyRequests, isUnanswered } from "./api-error.ts";
import type { ClusterConfig } from "../connection/cluster-config.ts";
import { nodeResource, podResource } from "../objects/built-in-resources.ts";
import { startLoopbackServer } from "../testing/loopback-server.ts";
import type { LoopbackServer, SeenRequest } from "../testing/loopback-server.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(
  handle: (request: SeenRequest, response: ServerResponse) => void,
  options: ApiClientOptions = {},
): Promise<{ server: LoopbackServer; api: ApiClient }> {
  const server = await startLoopbackServer(handle);
  const api = createApiClient({ server: server.url }, options);
  closers.push(api.close, server.close);
  return { server, api };
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "1" } };
const busy = { kind: "Status", code: 429, reason: "TooManyRequests", message: "slow down" };

test("opens no further connection for 200 requests in a row", async () => {
  const { server, api } = await serve((_, response) => answer(response, 200, node));
  for (let i = 0; i < 200; i++) await api.get(nodeResource, { name: "a" });
  expect(server.requests).toHaveLength(200);
  // undici frees a connection a turn after it hands out the body, so that the second request may open a second one.
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test("uses no more connections at once than it is allowed", async () => {
  const { server, api } = await serve((_, response) => void setTimeout(() => answer(response, 200, node), 5), {
    maxConnections: 4,
  });
  await Promise.all(Array.from({ length: 100 }, () => api.get(nodeResource, { name: "a" })));
  expect(server.connections()).toBeLessThanOrEqual(4);
});

test("waits as long as Retry-After says and repeats a write that the server did not look at", async () => {
  let count = 0;
  const { server, api } = await serve((_, response) => {
    if (count++ < 2) answer(response, 429, busy, { "retry-after": "0" });
    else answer(response, 201, node);
  });
  await api.create(nodeResource, { metadata: { name: "a" } });
  expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
});

test("asks for metadata alone where that is all that counts, and takes whole objects from a server that has no such thing", async () => {
  const answers = [node, { metadata: {}, items: [node] }, node, { type: "ADDED", object: node }];
  const { server, api } = await serve((_, response) => answer(response, 200, `${JSON.stringify(answers.shift())}\n`));
  const { metadata } = await api.get(nodeResource, { name: "a" }, { metadataOnly: true });
  const { items } = await api.list(nodeResource, { metadataOnly: true });
  await api.get(nodeResource, { name: "a" });
  const events: string[] = [];
  const options = { resourceVersion: "1", metadataOnly: true };
  for await (const event of api.watch(nodeResource, options, new AbortController().signal)) events.push(event.type);
  expect(events).toEqual(["ADDED"]);
  expect([metadata.name, items.length]).toEqual(["a", 1]);
  expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
    "application/json",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
  ]);
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

test("gives up when there is no answer within the deadline, and says so", async () => {
  const { api } = await serve(() => {}, { timeoutMs: 50 });
  const error = await api.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(isUnanswered(error)).toBe(true);
  expect(error).toMatchObject({
    reason: "ClientTimeout",
    message: "GET /api/v1/nodes/a: no answer from the API server within 50 ms",
  });
});

test("gives up when the body stops in the middle", async () => {
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

test("says that the server cannot be reached when nobody listens", async () => {
  const { server, api } = await serve(() => {});
  await server.close();
  const error = await api.get(nodeResource, { name: "a" }).catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 0, reason: "Unreachable" });
  expect(String(error)).toMatch(/GET \/api\/v1\/nodes\/a: the API server cannot be reached: .*ECONNREFUSED/);
});

test("has contact with the server from any answer on, refusals too, until it finds none", async () => {
  let status = 404;
  const { server, api } = await serve((_, response) => answer(response, status, { kind: "Status", code: status }));
  const ask = () => api.get(nodeResource, { name: "a" }).catch(() => undefined);
  const heard: number[] = [];
  api.contact?.onRegained((lostForMs) => heard.push(lostForMs));
  status = 503;
  await ask();
  expect(heard).toHaveLength(0);
  status = 404;
  await ask();
  await ask();
  expect(heard).toHaveLength(1);
  expect(api.contact?.lostForMs()).toBe(0);
  await server.close();
  await ask();
  expect(api.contact?.lostForMs()).toBeGreaterThan(0);
});

test("reads Status errors, and keeps an excerpt of answers that are none", async () => {
  const { api } = await serve(({ url }, response) => {
    if (url.endsWith("/missing")) {
      answer(response, 404, {
        kind: "Status",
        code: 404,
        reason: "NotFound",
        message: 'nodes "missing" not found',
        details: { name: "missing", kind: "nodes", causes: [{ reason: "X", field: "a.b" }, "nonsense"] },
      });
    } else if (url.endsWith("/old")) answer(response, 409, "{}");
    else answer(response, 502, "<html>\n bad   gateway");
  });
  const missing = await api.get(nodeResource, { name: "missing" }).catch((error: unknown) => error);
  expect(isNotFound(missing)).toBe(true);
  expect(missing).toMatchObject({
    message: 'nodes "missing" not found',
    details: { name: "missing", kind: "nodes", causes: [{ reason: "X", field: "a.b" }] },
  });
  expect(isConflict(await api.get(nodeResource, { name: "old" }).catch((error: unknown) => error))).toBe(true);
  await expect(api.get(nodeResource, { name: "x" })).rejects.toMatchObject({
    status: 502,
    message: "GET /api/v1/nodes/x: the server answered 502: <html> bad gateway",
  });
});

test("refuses an answer that is not an object", async () => {
  const { api } = await serve((_, response) => answer(response, 200, "[]"));
  await expect(api.get(nodeResource, { name: "a" })).rejects.toMatchObject({ reason: "MalformedResponse" });
  await expect(api.list(nodeResource)).rejects.toMatchObject({ reason: "MalformedResponse" });
});

test("lets no __proto__ key of an answer reach a prototype", async () => {
  const body =
    '{"metadata":{"name":"a","labels":{"__proto__":{"polluted":"yes"},"\\u005f_proto__":{"polluted":"yes"}}}}';
  const { api } = await serve((_, response) => answer(response, 200, body));
  const object = await api.get(nodeResource, { name: "a" });
  const labels = object.metadata.labels ?? {};
  expect(Object.keys(labels)).toEqual([]);
  expect(Object.assign({}, labels)).not.toHaveProperty("polluted");
});

test("gives the items of a list the kind and version that the server leaves out", async () => {
  const { server, api } = await serve((_, response) =>
    answer(response, 200, {
      kind: "PodList",
      metadata: { resourceVersion: "7", continue: "c" },
      items: [{ metadata: { name: "p" } }],
    }),
  );
  const list = await api.list(podResource, { namespace: "n", labelSelector: "a=b", limit: 1 });
  expect(list).toEqual({
    items: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "p" } }],
    metadata: { resourceVersion: "7", continue: "c" },
  });
  expect(server.requests[0]?.url).toBe("/api/v1/namespaces/n/pods?labelSelector=a%3Db&limit=1");
});

test("sends each kind of patch with its content type and its preconditions", async () => {
  const { server, api } = await serve((_, response) => answer(response, 200, node));
  const ref = { name: "a" };
  await api.patch(nodeResource, ref, { spec: { x: 1 } }, { kind: "merge", resourceVersion: "5", uid: "u" });
  await api.patch(nodeResource, ref, [{ op: "remove", path: "/spec/x" }], { kind: "json", subresource: "status" });
  await api.patch(nodeResource, ref, { spec: {} }, { kind: "strategic" });
  await api.patch(nodeResource, ref, { spec: {} }, { kind: "apply", fieldManager: "me", force: true });
  expect(server.requests.map(({ url, headers, body }) => [url, headers["content-type"], JSON.parse(body)])).toEqual([
    [
      "/api/v1/nodes/a",
      "application/merge-patch+json",
      { spec: { x: 1 }, metadata: { resourceVersion: "5", uid: "u" } },
    ],
    ["/api/v1/nodes/a/status", "application/json-patch+json", [{ op: "remove", path: "/spec/x" }]],
    ["/api/v1/nodes/a", "application/strategic-merge-patch+json", { spec: {} }],
    [
      "/api/v1/nodes/a?fieldManager=me&force=true",
      "application/apply-patch+yaml",
      { apiVersion: "v1", kind: "Node", spec: {}, metadata: { name: "a" } },
    ],
  ]);
});

test("sends the preconditions of a deletion and reads either kind of answer", async () => {
  const answers = [{ kind: "Status", status: "Success" }, node];
  const { server, api } = await serve((_, response) => answer(response, 200, answers.shift()));
  const gone = await api.delete(nodeResource, { name: "a" }, { uid: "u", propagation: "Foreground" });
  expect(gone).toMatchObject({ kind: "Status", status: "Success" });
  expect(await api.delete(nodeResource, { name: "a" })).toMatchObject(node);
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
  });
});

test("sends nothing for a name that would lead elsewhere", async () => {
  const { server, api } = await serve((_, response) => answer(response, 200, node));
  for (const name of ["", ".", "..", "a/b", "../secrets/x", "%2e%2e"]) {
    await expect(api.get(nodeResource, { name })).rejects.toThrow(/cannot be part of a path/);
  }
  await expect(api.get(podResource, { name: "p" })).rejects.toThrow(/a namespace is needed/);
  await expect(api.create(podResource, { metadata: { name: "p" } })).rejects.toThrow(/metadata.namespace is needed/);
  expect(server.requests).toEqual([]);
});

test("sends the credentials that are current at the time of the request, and says who it is", async () => {
  const server = await startLoopbackServer((_, response) => answer(response, 200, node));
  let count = 0;
  const credentials = async () => ({ headers: { authorization: `Bearer ${++count}` } });
  const api = createApiClient({ server: `${server.url}/prefix/`, credentials }, { userAgent: "me/1" });
  closers.push(api.close, server.close);
  await api.get(nodeResource, { name: "a" });
  await api.get(nodeResource, { name: "a" });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  expect(server.requests[0]).toMatchObject({ url: "/prefix/api/v1/nodes/a", headers: { "user-agent": "me/1" } });
});

test("answers raw requests as JSON or text, as the server says", async () => {
  const { api } = await serve(({ url }, response) => {
    if (url === "/readyz") response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    else answer(response, 200, { major: "1" });
  });
  expect(await api.request({ method: "GET", path: "/readyz" })).toEqual({ status: 200, body: "ok" });
  expect(await api.request({ method: "GET", path: "/version" })).toEqual({ status: 200, body: { major: "1" } });
});

test.each(["", "localhost:8080", "ftp://host", "not a url"])("refuses %j as the address of a server", (server) => {
  expect(() => createApiClient({ server })).toThrow(/expected http:\/\/host:port or https:\/\/host:port/);
});

test("refuses to work after it was closed", async () => {
  const { api } = await serve((_, response) => answer(response, 200, node));
  await api.get(nodeResource, { name: "a" });
  await api.close();
  await expect(api.get(nodeResource, { name: "a" })).rejects.toThrow("the API client is closed");
});

test("fetches new credentials once after 401, for requests and for watches, and then lets the refusal stand", async () => {
  const server = await startLoopbackServer(({ headers }, response) => {
    if (headers.authorization === "Bearer good") answer(response, 200, node);
    else answer(response, 401, { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" });
  });
  let refusals = 0;
  const tokens = ["rotated", "good", "bad", "worse", "worse"];
  const credentials: ClusterConfig["credentials"] = async (_, refused) => {
    if (refused !== undefined) refusals++;
    if (refused !== undefined || refusals === 0) return { headers: { authorization: `Bearer ${tokens.shift()}` } };
    return { headers: { authorization: `Bearer ${tokens[0]}` } };
  };
  const api = createApiClient({ server: server.url, credentials });
  closers.push(api.close, server.close);
  await expect(api.get(nodeResource, { name: "a" })).resolves.toMatchObject(node);
  await expect(api.get(nodeResource, { name: "a" })).rejects.toMatchObject({ status: 401 });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer rotated",
    "Bearer good",
    "Bearer bad",
  ]);
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
