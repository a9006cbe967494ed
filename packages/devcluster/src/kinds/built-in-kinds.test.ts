import { beforeEach, expect, test } from "vitest";
import { startServer, type TestServer } from "../testing/start-server.ts";
import { builtInKinds } from "./built-in-kinds.ts";

let api: TestServer;

beforeEach(async () => {
  api = await startServer();
});

test("every kind has a collection of its own, and views share that of their kind", () => {
  const paths = builtInKinds.map(({ group, version, plural }) => `${group}/${version}/${plural}`);
  expect(new Set(paths).size).toBe(paths.length);
  const owners = builtInKinds.filter(({ view }) => view === undefined).map(({ collection }) => collection);
  expect(new Set(owners).size).toBe(owners.length);
});

test("events are the same objects in both groups", async () => {
  const event = {
    metadata: { name: "e" },
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
    reason: "Started",
    message: "it runs",
  };
  await api.call("POST", "/api/v1/namespaces/default/events", event);
  const path = "/apis/events.k8s.io/v1/namespaces/default/events";
  expect((await api.call("GET", `${path}/e`)).body).toMatchObject({
    apiVersion: "events.k8s.io/v1",
    regarding: { name: "p" },
    note: "it runs",
  });
  await api.call("POST", path, { metadata: { name: "f" }, regarding: { kind: "Node", name: "n" }, note: "seen" });
  const byField = "/api/v1/events?fieldSelector=involvedObject.name%3Dn";
  expect((await api.call("GET", byField)).body["items"]).toMatchObject([
    { involvedObject: { name: "n" }, message: "seen" },
  ]);
});

test.each([
  [
    "/api/v1/nodes",
    { metadata: { name: "n" }, spec: { providerID: true } },
    "cannot unmarshal bool into Go struct field NodeSpec.spec.providerID of type string",
  ],
  [
    "/api/v1/namespaces/default/pods",
    { metadata: { name: "p" }, spec: { containers: "x" } },
    "PodSpec.spec.containers of type []v1.Container",
  ],
])("rejects a wrong type in %s", async (path, body, text) => {
  const answer = await api.call("POST", path, body);
  expect(answer).toMatchObject({ code: 400, body: { reason: "BadRequest" } });
  expect(answer.body["message"]).toContain(text);
});

test("secrets accept plain values in stringData, and reject invalid base64 without repeating it", async () => {
  const path = "/api/v1/namespaces/default/secrets";
  const created = await api.call("POST", path, { metadata: { name: "s" }, stringData: { a: "b" } });
  expect(created.body).toMatchObject({ type: "Opaque", data: { a: "Yg==" } });
  expect(created.body["stringData"]).toBeUndefined();
  const rejected = await api.call("POST", path, { metadata: { name: "t" }, data: { a: "hunter2!" } });
  expect(rejected.code).toBe(400);
  expect(JSON.stringify(rejected.body)).not.toContain("hunter2");
});

test("leases require times with six fraction digits", async () => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const lease = (renewTime: string): object => ({ metadata: { name: "l" }, spec: { renewTime } });
  expect((await api.call("POST", path, lease("2026-01-01T00:00:00.123Z"))).code).toBe(400);
  expect((await api.call("POST", path, lease("2026-01-01T00:00:00.123456Z"))).code).toBe(201);
});
