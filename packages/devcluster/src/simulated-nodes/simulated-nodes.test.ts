import { createApiClient, type ApiClient } from "@millwright/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "@millwright/base";
import { startServer, type TestServer } from "../testing/start-server.ts";
import { conditionOf } from "./node-object.ts";
import { createSimulatedNodes, type SimulatedNodes, type SimulatedNodesOptions } from "./simulated-nodes.ts";

let server: TestServer;
let client: ApiClient;
let stopping: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  server = await startServer();
  client = createApiClient({ server: server.url });
  stopping = new AbortController();
  running = Promise.resolve();
});
afterEach(async () => {
  stopping.abort();
  await running;
  await client.close();
  await server.server.close();
});

function simulate(options: Partial<SimulatedNodesOptions> = {}): SimulatedNodes {
  const nodes = createSimulatedNodes({
    api: client,
    clock: systemClock,
    joinDelayMs: 10,
    heartbeatMs: 300,
    silenceMs: 1200,
    ...options,
  });
  running = nodes.start(stopping.signal);
  return nodes;
}

async function ready(name: string): Promise<string | undefined> {
  const { body } = await server.call("GET", `/api/v1/nodes/${name}`);
  return conditionOf(body, "Ready")?.status;
}

const desired = [{ nodeName: "n1", providerId: "mock:///n1", labels: { zone: "a" } }];
const wait = { timeout: 20_000, interval: 50 };

test("a node joins with its machine, is Ready and renews its lease", async () => {
  simulate().sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  const { body } = await server.call("GET", "/api/v1/nodes/n1");
  expect(body).toMatchObject({
    metadata: { labels: { zone: "a", "kubernetes.io/hostname": "n1" } },
    spec: { providerID: "mock:///n1" },
  });
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1";
  await expect.poll(async () => (await server.call("GET", path)).code, wait).toBe(200);
  const first = (await server.call("GET", path)).body["spec"];
  await expect.poll(async () => (await server.call("GET", path)).body["spec"], wait).not.toEqual(first);
});

test("a node whose machine was removed becomes Unknown, but stays", async () => {
  const nodes = simulate();
  nodes.sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  nodes.sync([]);
  await expect.poll(() => ready("n1"), wait).toBe("Unknown");
});

test("a node is deleted after its machine with removeWithVm", async () => {
  const nodes = simulate({ removeWithVm: true, removeAfterMs: 50 });
  nodes.sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  nodes.sync([]);
  await expect.poll(() => ready("n1"), wait).toBeUndefined();
});

test("a node reports the readiness that is set, and becomes Ready again", async () => {
  const nodes = simulate();
  nodes.sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  nodes.setReady("n1", false);
  await expect.poll(() => ready("n1"), wait).toBe("False");
  nodes.setReady("n1", true);
  await expect.poll(() => ready("n1"), wait).toBe("True");
});

test("adopts existing nodes, with the fields that other clients wrote", async () => {
  await server.call("POST", "/api/v1/nodes", {
    metadata: { name: "n1", annotations: { mine: "1" } },
    spec: { unschedulable: true },
  });
  simulate().sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  expect((await server.call("GET", "/api/v1/nodes/n1")).body).toMatchObject({
    metadata: { annotations: { mine: "1" } },
    spec: { unschedulable: true, providerID: "mock:///n1" },
  });
});

test("does not recreate a deleted Node", async () => {
  const nodes = simulate();
  nodes.sync(desired);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  await server.call("DELETE", "/api/v1/nodes/n1");
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(await ready("n1")).toBeUndefined();
});

test("a node without provider ID joins with a taint, and keeps what a cloud controller manager wrote", async () => {
  const external = { nodeName: "n1", systemUuid: "ec2e1916-9099-7caf-fd21-012345abcdef" };
  const nodes = simulate();
  nodes.sync([external]);
  await expect.poll(() => ready("n1"), wait).toBe("True");
  const { body } = await server.call("GET", "/api/v1/nodes/n1");
  expect(body["spec"]).toEqual({
    taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
  });
  expect(body).toMatchObject({ status: { nodeInfo: { systemUUID: external.systemUuid } } });

  const initialized = { spec: { providerID: "aws:///eu-west-1a/i-1", taints: null } };
  const mergePatch = { "content-type": "application/merge-patch+json" };
  const { code } = await server.call("PATCH", "/api/v1/nodes/n1", initialized, mergePatch);
  expect(code).toBe(200);
  nodes.sync([{ ...external, systemUuid: "ec2e1916-9099-7caf-fd21-fedcba543210" }]);
  const uuid = async () => (await server.call("GET", "/api/v1/nodes/n1")).body["status"];
  await expect.poll(uuid, wait).toMatchObject({ nodeInfo: { systemUUID: "ec2e1916-9099-7caf-fd21-fedcba543210" } });
  expect((await server.call("GET", "/api/v1/nodes/n1")).body["spec"]).toEqual({ providerID: "aws:///eu-west-1a/i-1" });
});
