import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../json/json.ts";
import { startServer, type TestServer } from "../testing/start-server.ts";

const pods = "/api/v1/namespaces/default/pods";
const nodes = "/api/v1/nodes";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
});

const pod = (spec: JsonObject): JsonObject => ({
  metadata: { name: "p", surprise: 1 },
  spec: { containers: [{ name: "a", image: "i", color: "red" }], ...spec },
});

test("drops unknown fields with a warning", async () => {
  const { code, body, headers } = await api.call("POST", pods, pod({ shape: {} }));
  expect(code).toBe(201);
  expect(JSON.stringify(body)).not.toMatch(/surprise|color|shape/);
  for (const path of ["metadata.surprise", "spec.containers[0].color", "spec.shape"]) {
    expect(headers.get("warning")).toContain(`unknown field \\"${path}\\"`);
  }
});

test("drops them without a warning under Ignore, and rejects them under Strict", async () => {
  const ignored = await api.call("POST", `${pods}?fieldValidation=Ignore&dryRun=All`, pod({}));
  expect([ignored.code, ignored.headers.get("warning")]).toEqual([201, null]);
  expect(await api.call("POST", `${pods}?fieldValidation=Strict`, pod({}))).toMatchObject({
    code: 400,
    body: {
      message:
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "metadata.surprise", ' +
        'unknown field "spec.containers[0].color"',
    },
  });
});

test.each([
  [
    nodes,
    { unschedulable: 1 },
    "cannot unmarshal number into Go struct field NodeSpec.spec.unschedulable of type bool",
  ],
  [pods, { priority: 1.5 }, "cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32"],
  [pods, { priority: 2 ** 40 }, "cannot unmarshal number 1099511627776 into Go struct field PodSpec.spec.priority of"],
  [nodes, { taints: [{ key: "k", effect: "NoExecute", timeAdded: "noon" }] }, 'cannot parse "noon" as "2006"'],
  [leases, { renewTime: "2024-01-01T00:00:00.123Z" }, 'cannot parse ".123Z" as ".000000"'],
])("rejects at %s %j like Go's decoder", async (path, spec, text) => {
  const answer = await api.call("POST", path, { metadata: { name: "x" }, spec });
  expect(answer.code).toBe(400);
  expect(answer.body["message"]).toContain(text);
});

test("leaves out what Go leaves out: zero values of optional fields", async () => {
  const { body } = await api.call("POST", nodes, {
    metadata: { name: "n" },
    spec: { unschedulable: false, providerID: "" },
  });
  expect(body["spec"]).toEqual({});
});
