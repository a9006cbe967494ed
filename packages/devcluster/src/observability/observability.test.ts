import { beforeEach, expect, test } from "vitest";
import { startServer, type TestServer } from "../testing/start-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer({ requestLogLimit: 3 });
});

const maps = "/api/v1/namespaces/default/configmaps";

test("keeps the latest requests, oldest first, with the attributes of an audit log", async () => {
  await server.call("GET", "/api/v1/nodes");
  await server.call("POST", maps, { metadata: { name: "a" } }, { "user-agent": "tester/1" });
  await server.call("GET", `${maps}/missing`);
  await server.call("PUT", `/api/v1/nodes/n1/status`, {});
  const { requests } = server.server;
  expect(
    requests.map(({ verb, resource, subresource, name, status }) => [verb, resource, subresource, name, status]),
  ).toEqual([
    ["create", "configmaps", "", "", 201],
    ["get", "configmaps", "", "missing", 404],
    ["update", "nodes", "status", "n1", 404],
  ]);
  expect(requests[0]).toMatchObject({ namespace: "default", userAgent: "tester/1" });
  expect(requests[0]?.durationMs).toBeGreaterThanOrEqual(0);
  expect((await server.call("GET", "/millwright/requests")).body["items"]).toHaveLength(3);
});

test("counts requests by verb, resource and code, and stored objects", async () => {
  await server.call("POST", maps, { metadata: { name: "a" } });
  await server.call("POST", maps, { metadata: { name: "a" } });
  const watch = server.watch(`${maps}?watch=1`);
  await watch.next();
  const { text } = (await server.call("GET", "/metrics")).body;
  const row = (code: number) =>
    `verb="CREATE",group="",version="v1",resource="configmaps",subresource="",code="${code}"`;
  expect(text).toContain(`apiserver_request_total{${row(201)}} 1\n`);
  expect(text).toContain(`apiserver_request_total{${row(409)}} 1\n`);
  expect(text).toContain('apiserver_longrunning_requests{verb="WATCH",group="",resource="configmaps"} 1\n');
  expect(text).toContain('apiserver_storage_objects{resource="configmaps"} 1\n');
  watch.close();
});
