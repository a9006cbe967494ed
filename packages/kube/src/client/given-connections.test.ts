import { expect, test } from "vitest";
import type { Connection, ConnectionRequest, Connections } from "../connection/connections.ts";
import { nodeResource } from "../objects/built-in-resources.ts";
import { createApiClient } from "./api-client.ts";

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "a", resourceVersion: "1" } };

/** Connections to nowhere, which answer each request with the node. */
function connections() {
  const requests: ConnectionRequest[] = [];
  const destroyed: string[] = [];
  const body = (path: string, text: string) => ({
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text);
    },
    arrayBuffer: async () => Uint8Array.from(Buffer.from(text)).buffer,
    text: async () => text,
    destroy: () => destroyed.push(path),
  });
  const connect = (): Connection => ({
    async request(request) {
      requests.push(request);
      const text = request.path.includes("watch=true") ? `{"type":"ADDED","object":${JSON.stringify(node)}}\n` : node;
      const content = typeof text === "string" ? text : JSON.stringify(text);
      return { statusCode: 200, headers: {}, body: body(request.path, content) };
    },
  });
  const all: Connections = {
    pool: async () => connect(),
    streams: async () => connect(),
    close: async () => undefined,
  };
  return { requests, destroyed, all };
}

test("sends its requests over connections that it was given, and destroys those of watches", async () => {
  const { requests, destroyed, all } = connections();
  const api = createApiClient({ server: "http://127.0.0.1" }, { connections: all });
  await expect(api.get(nodeResource, { name: "a" })).resolves.toMatchObject(node);
  expect(destroyed).toHaveLength(0);
  for await (const event of api.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal))
    expect(event).toMatchObject({ type: "ADDED", object: node });
  expect(requests.map(({ method }) => method)).toEqual(["GET", "GET"]);
  expect(requests[0]).toMatchObject({ origin: "http://127.0.0.1", path: "/api/v1/nodes/a" });
  expect(destroyed).toEqual([requests[1]?.path]);
});

test("sends a request or a watch again that a pool did not take because it was just closed", async () => {
  const { requests, all } = connections();
  let refusals = 0;
  /** Refuses every other request. */
  const closing = async (connection: Promise<Connection>): Promise<Connection> => ({
    async request(request) {
      if (refusals++ % 2 === 0) throw Object.assign(new Error("The client is closed"), { code: "UND_ERR_CLOSED" });
      return (await connection).request(request);
    },
  });
  const api = createApiClient(
    { server: "http://127.0.0.1" },
    {
      connections: {
        ...all,
        pool: (credentials) => closing(all.pool(credentials)),
        streams: (credentials) => closing(all.streams(credentials)),
      },
    },
  );
  await expect(api.create(nodeResource, node)).resolves.toMatchObject(node);
  for await (const event of api.watch(nodeResource, { resourceVersion: "1" }, new AbortController().signal))
    expect(event).toMatchObject({ type: "ADDED", object: node });
  expect(requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
  expect(refusals).toBe(4);
});
