import { beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../json/json.ts";
import { startServer, type TestServer } from "../../testing/start-server.ts";

const pods = "/api/v1/namespaces/default/pods";
const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const eviction = { apiVersion: "policy/v1", kind: "Eviction" };
let api: TestServer;

beforeEach(async () => {
  api = await startServer();
});

async function runPod(name: string): Promise<void> {
  const spec: JsonObject = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
  await api.call("POST", pods, { metadata: { name, labels: { app: "x" } }, spec });
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  const headers = { "content-type": "application/merge-patch+json" };
  await api.call("PATCH", `${pods}/${name}/status`, { status }, headers);
}

test("evicts a pod that no budget protects", async () => {
  await runPod("a");
  const answer = await api.call("POST", `${pods}/a/eviction`, { ...eviction, metadata: { name: "a" } });
  expect(answer).toMatchObject({ code: 201, body: { kind: "Status", status: "Success" } });
  // It has its grace to end; removing it is its kubelet's.
  const { body } = await api.call("GET", `${pods}/a`);
  expect(body).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
});

test("evicts as many pods as the budget allows and rejects the next with its cause", async () => {
  await runPod("a");
  await runPod("b");
  const spec = { minAvailable: 1, selector: { matchLabels: { app: "x" } } };
  await api.call("POST", budgets, { metadata: { name: "budget" }, spec });
  await expect
    .poll(async () => (await api.call("GET", `${budgets}/budget`)).body["status"])
    .toMatchObject({
      currentHealthy: 2,
      desiredHealthy: 1,
      disruptionsAllowed: 1,
    });
  expect((await api.call("POST", `${pods}/a/eviction`, { ...eviction, metadata: { name: "a" } })).code).toBe(201);
  const rejected = await api.call("POST", `${pods}/b/eviction`, { ...eviction, metadata: { name: "b" } });
  expect(rejected).toMatchObject({
    code: 429,
    body: {
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: "DisruptionBudget",
            message: "The disruption budget budget needs 1 healthy pods and has 1 currently",
          },
        ],
      },
    },
  });
  expect((await api.call("GET", `${pods}/b`)).code).toBe(200);
});
