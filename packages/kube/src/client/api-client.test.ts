import { inspect } from "node:util";
import { expect, test } from "vitest";
import { nodeResource, podResource } from "../objects/built-in-resources.ts";
import { answer, serve, servedNode as node } from "../testing/served-client.ts";
import { createApiClient } from "./api-client.ts";
import { isConflict, isNotFound } from "./api-error.ts";

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
    message: "GET /api/v1/nodes/x: the server responded with 502: <html> bad gateway",
  });
});

test("refuses an answer that is not an object", async () => {
  const { api } = await serve((_, response) => answer(response, 200, "[]"));
  await expect(api.get(nodeResource, { name: "a" })).rejects.toMatchObject({ reason: "MalformedResponse" });
  await expect(api.list(nodeResource)).rejects.toMatchObject({ reason: "MalformedResponse" });
});

test("quotes nothing of an answer that is not JSON, which may be a Secret", async () => {
  const { api } = await serve((_, response) => answer(response, 200, '{"items":[{"metadata":SENSITIVE}]}'));
  const asks = [
    api.get(nodeResource, { name: "a" }),
    api.list(nodeResource),
    api.request({ method: "GET", path: "/" }),
  ];
  for (const ask of asks) {
    const error = await ask.catch((error: unknown) => error);
    expect(error).toMatchObject({ reason: "MalformedResponse" });
    // With its causes, as it is logged.
    expect(inspect(error)).not.toContain("SENS");
  }
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

test("returns raw responses as JSON or text, by their content type, with the time of the server", async () => {
  const date = "Sun, 06 Nov 1994 08:49:37 GMT";
  const { api } = await serve(({ url }, response) => {
    response.setHeader("date", date);
    if (url === "/readyz") response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    else answer(response, 200, { major: "1" });
  });
  expect(await api.request({ method: "GET", path: "/readyz" })).toEqual({ status: 200, body: "ok", date });
  expect(await api.request({ method: "GET", path: "/version" })).toEqual({ status: 200, body: { major: "1" }, date });
});

test.each(["", "localhost:8080", "ftp://host", "not a url"])("refuses %j as the address of a server", (server) => {
  expect(() => createApiClient({ server })).toThrow(/expected http:\/\/host:port or https:\/\/host:port/);
});
