import { type ApiClient, createApiClient } from "@millwright/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "@millwright/base";
import { arrayAt, at, type Json, type JsonObject, stringAt } from "../json/json.ts";
import { isTrue } from "../objects/conditions.ts";
import { createSimulatedNodes, type SimulatedNodes } from "../simulated-nodes/simulated-nodes.ts";
import { startServer, type TestServer } from "../testing/start-server.ts";
import { createWorkloads } from "./workloads.ts";

let server: TestServer;
let client: ApiClient;
let nodes: SimulatedNodes;
let stopping: AbortController;
let running: Promise<unknown>;

/** Nodes are never taken for silent, however busy the computer is, but where silence is looked at. */
async function begin(silenceMs = 60_000): Promise<void> {
  server = await startServer();
  client = createApiClient({ server: server.url });
  stopping = new AbortController();
  nodes = createSimulatedNodes({ api: client, clock: systemClock, joinDelayMs: 0, heartbeatMs: 300, silenceMs });
  const workloads = createWorkloads({
    api: client,
    clock: systemClock,
    podStartMs: 20,
    podStopMs: 100,
    attachMs: 50,
    detachMs: 50,
  });
  running = Promise.all([nodes.start(stopping.signal), workloads.start(stopping.signal)]);
}
async function end(): Promise<void> {
  stopping.abort();
  await running;
  await client.close();
  await server.server.close();
}
beforeEach(() => begin());
afterEach(end);

const wait = { timeout: 20_000, interval: 30 };
const apps = "/apis/apps/v1/namespaces/default";
const podsPath = "/api/v1/namespaces/default/pods";
const joinNodes = (...names: readonly string[]) =>
  nodes.sync(names.map((nodeName) => ({ nodeName, providerId: `sim:///${nodeName}`, labels: { zone: nodeName } })));

const containers = [{ name: "web", image: "web:1" }];
const workload = (name: string, spec: JsonObject = {}, podSpec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers, ...podSpec } },
    ...spec,
  },
});

async function items(path: string): Promise<readonly Json[]> {
  return arrayAt((await server.call("GET", path)).body, "items");
}

/** The ready pods of an app as `name@node`, in order. */
async function placement(app: string): Promise<readonly string[]> {
  const pods = await items(`${podsPath}?labelSelector=app%3D${app}`);
  return pods
    .filter((pod) => isTrue(pod, "Ready") && at(pod, "metadata", "deletionTimestamp") === undefined)
    .map((pod) => `${stringAt(pod, "metadata", "name")}@${stringAt(pod, "spec", "nodeName")}`)
    .toSorted();
}

const nodesOf = async (app: string) => (await placement(app)).map((place) => place.replace(/.*@/, "")).toSorted();

/** Nodes `a` and `b`, both of which the scheduler may use: of two nodes it takes the only one that is ready. */
async function haveTwoNodes(): Promise<void> {
  joinNodes("a", "b");
  await expect
    .poll(async () => (await items("/api/v1/nodes")).filter((node) => isTrue(node, "Ready")).length, wait)
    .toBe(2);
}

const patch = (path: string, body: unknown) =>
  server.call("PATCH", path, body, { "content-type": "application/merge-patch+json" });

test("a deployment's pods run on different nodes, and its status counts them", async () => {
  await haveTwoNodes();
  await server.call("POST", `${apps}/deployments`, workload("web"));
  await expect.poll(() => nodesOf("web"), wait).toEqual(["a", "b"]);
  await expect
    .poll(async () => (await server.call("GET", `${apps}/deployments/web`)).body["status"], wait)
    .toMatchObject({ replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2, observedGeneration: 1 });
  const [set, ...others] = await items(`${apps}/replicasets`);
  expect(others).toEqual([]);
  expect(at(set, "metadata", "ownerReferences", "0")).toBeUndefined();
  expect(arrayAt(set, "metadata", "ownerReferences")).toMatchObject([{ kind: "Deployment", name: "web" }]);
  await patch(`${apps}/deployments/web`, { spec: { replicas: 0 } });
  await expect.poll(() => items(podsPath), wait).toEqual([]);
});

test("a new template replaces all pods, and the old set is scaled to zero when the new one is ready", async () => {
  joinNodes("a");
  await server.call("POST", `${apps}/deployments`, workload("web"));
  await expect.poll(async () => (await placement("web")).length, wait).toBe(2);
  const before = await placement("web");
  await patch(`${apps}/deployments/web`, { spec: { template: { metadata: { annotations: { restarted: "1" } } } } });
  await expect
    .poll(
      async () =>
        (await items(`${apps}/replicasets`))
          .map((set) => Number(at(set, "spec", "replicas")))
          .toSorted((a, b) => a - b),
      wait,
    )
    .toEqual([0, 2]);
  await expect.poll(async () => (await items(podsPath)).length, wait).toBe(2);
  expect((await placement("web")).filter((pod) => before.includes(pod))).toEqual([]);
});

test("a drain: evicted pods end within their grace period, are recreated elsewhere, and the budget recovers", async () => {
  await haveTwoNodes();
  await server.call("POST", `${apps}/deployments`, workload("web"));
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const budget = { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } };
  await server.call("POST", budgets, { metadata: { name: "web" }, spec: budget });
  const allowed = async () => at((await server.call("GET", `${budgets}/web`)).body, "status", "disruptionsAllowed");
  await expect.poll(() => nodesOf("web"), wait).toEqual(["a", "b"]);
  await expect.poll(allowed, wait).toBe(1);
  await patch("/api/v1/nodes/a", { spec: { unschedulable: true } });
  const [first = "", second = ""] = (await placement("web")).map((place) => place.split("@")[0] ?? "");
  const evict = (name: string) => server.call("POST", `${podsPath}/${name}/eviction`, { metadata: { name } });
  const doomed = (await placement("web")).find((place) => place.endsWith("@a"))?.split("@")[0] ?? "";
  expect((await evict(doomed)).code).toBe(201);
  expect((await evict(doomed === first ? second : first)).code).toBe(429);
  expect((await server.call("GET", `${podsPath}/${doomed}`)).body).toMatchObject({
    metadata: { deletionGracePeriodSeconds: 30 },
  });
  await expect.poll(async () => (await server.call("GET", `${podsPath}/${doomed}`)).code, wait).toBe(404);
  await expect.poll(() => nodesOf("web"), wait).toEqual(["b", "b"]);
  await expect.poll(allowed, wait).toBe(1);
});

test("a pod that does not end by itself uses its whole grace period", async () => {
  joinNodes("a");
  const annotations = { "simulation.millwright.dev/stop-after-seconds": "60" };
  const spec = { containers, terminationGracePeriodSeconds: 1 };
  await server.call("POST", podsPath, { metadata: { name: "slow", annotations, labels: { app: "slow" } }, spec });
  await expect.poll(() => nodesOf("slow"), wait).toEqual(["a"]);
  const start = performance.now();
  await server.call("DELETE", `${podsPath}/slow`);
  await expect.poll(async () => (await server.call("GET", `${podsPath}/slow`)).code, wait).toBe(404);
  expect(performance.now() - start).toBeGreaterThan(950);
});

test("a pod is scheduled by its selector and tolerations, or has the reason why not", async () => {
  await haveTwoNodes();
  await patch("/api/v1/nodes/a", { spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] } });
  const pod = (name: string, spec: JsonObject) =>
    server.call("POST", podsPath, { metadata: { name, labels: { app: name } }, spec: { containers, ...spec } });
  await pod("plain", {});
  await pod("gpu", { nodeSelector: { zone: "a" }, tolerations: [{ key: "gpu", operator: "Exists" }] });
  await pod("nowhere", { nodeSelector: { zone: "a" } });
  await expect.poll(() => nodesOf("plain"), wait).toEqual(["b"]);
  await expect.poll(() => nodesOf("gpu"), wait).toEqual(["a"]);
  const conditions = async () =>
    arrayAt((await server.call("GET", `${podsPath}/nowhere`)).body, "status", "conditions");
  await expect.poll(conditions, wait).toMatchObject([
    {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message:
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s). " +
        "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    },
  ]);
  await patch("/api/v1/nodes/a", { spec: { taints: null } });
  await expect.poll(() => nodesOf("nowhere"), wait).toEqual(["a"]);
});

test("a pod waits for a node with as much left as its containers request", async () => {
  const capacity = { cpu: "1", memory: "1Gi" };
  nodes.sync(["a", "b"].map((nodeName) => ({ nodeName, providerId: `sim:///${nodeName}`, capacity })));
  const requests = (cpu: string): JsonObject => ({ name: cpu, image: "web:1", resources: { requests: { cpu } } });
  const podSpec = { containers: [requests("400m"), requests("0.2")] };
  await server.call("POST", `${apps}/deployments`, workload("large", { replicas: 3 }, podSpec));
  await expect.poll(() => nodesOf("large"), wait).toEqual(["a", "b"]);
  const waiting = async () =>
    (await items(podsPath)).flatMap((pod) =>
      stringAt(pod, "spec", "nodeName") ? [] : arrayAt(pod, "status", "conditions"),
    );
  await expect.poll(waiting, wait).toMatchObject([
    {
      reason: "Unschedulable",
      message:
        "0/2 nodes are available: 2 Insufficient cpu. " +
        "no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
    },
  ]);
  await patch(`${apps}/deployments/large`, { spec: { replicas: 2 } });
  await server.call("POST", podsPath, {
    metadata: { name: "small", labels: { app: "small" } },
    spec: { containers: [requests("400m")] },
  });
  await expect.poll(() => placement("small"), wait).toHaveLength(1);
});

test("a stateful set starts in order with a volume for each pod, and its volumes move with its pods", async () => {
  joinNodes("a");
  await server.call("POST", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "fast" },
    provisioner: "csi.sim",
  });
  const template = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "fast", resources: { requests: { storage: "1Gi" } } },
  };
  await server.call(
    "POST",
    `${apps}/statefulsets`,
    workload("db", { serviceName: "db", volumeClaimTemplates: [template] }),
  );
  await expect.poll(() => placement("db"), wait).toEqual(["db-0@a", "db-1@a"]);
  const started = new Map(
    (await items(podsPath)).map((pod) => [
      stringAt(pod, "metadata", "name"),
      Number(at(pod, "metadata", "resourceVersion")),
    ]),
  );
  expect(started.size).toBe(2);
  const attachments = async () =>
    (await items("/apis/storage.k8s.io/v1/volumeattachments")).map((one) => [
      stringAt(one, "spec", "nodeName"),
      at(one, "status", "attached"),
    ]);
  expect(await attachments()).toEqual([
    ["a", true],
    ["a", true],
  ]);
  const volumes = async (key: string) =>
    arrayAt((await server.call("GET", "/api/v1/nodes/a")).body, "status", key).length;
  await expect.poll(() => volumes("volumesAttached"), wait).toBe(2);
  await expect.poll(() => volumes("volumesInUse"), wait).toBe(2);
  await haveTwoNodes();
  await patch("/api/v1/nodes/a", { spec: { unschedulable: true } });
  await server.call("DELETE", `${podsPath}/db-1`);
  await expect.poll(() => placement("db"), wait).toEqual(["db-0@a", "db-1@b"]);
  await expect.poll(attachments, wait).toEqual(
    expect.arrayContaining([
      ["a", true],
      ["b", true],
    ]),
  );
  await expect.poll(async () => (await attachments()).length, wait).toBe(2);
  expect((await items("/api/v1/namespaces/default/persistentvolumeclaims")).length).toBe(2);
  await expect.poll(() => volumes("volumesInUse"), wait).toBe(1);
});

test("a daemon set runs on every node, cordoned or new", async () => {
  joinNodes("a");
  await server.call("POST", `${apps}/daemonsets`, workload("agent"));
  await expect.poll(() => nodesOf("agent"), wait).toEqual(["a"]);
  await patch("/api/v1/nodes/a", { spec: { unschedulable: true } });
  joinNodes("a", "b");
  await expect.poll(() => nodesOf("agent"), wait).toEqual(["a", "b"]);
  await expect
    .poll(async () => (await server.call("GET", `${apps}/daemonsets/agent`)).body["status"], wait)
    .toMatchObject({ desiredNumberScheduled: 2, numberReady: 2 });
});

test("pods of a node without heartbeats are not ready, and are deleted with its Node", async () => {
  await end();
  await begin(1_200);
  joinNodes("a");
  await server.call("POST", `${apps}/replicasets`, workload("web", { replicas: 1 }));
  await expect.poll(() => nodesOf("web"), wait).toEqual(["a"]);
  joinNodes("b");
  await expect.poll(() => nodesOf("web"), wait).toEqual([]);
  expect(await items(podsPath)).toHaveLength(1);
  await server.call("DELETE", "/api/v1/nodes/a");
  await expect.poll(() => nodesOf("web"), wait).toEqual(["b"]);
});

test.each(["deployments", "statefulsets", "daemonsets"])(
  "pods of %s have the labels, annotations and finalizers of their template, and stay until the finalizers are removed",
  async (kind) => {
    joinNodes("a");
    const metadata = { labels: { app: "web" }, annotations: { note: "x" }, finalizers: ["example.com/hold"] };
    await server.call(
      "POST",
      `${apps}/${kind}`,
      workload("web", {
        ...(kind === "daemonsets" ? {} : { replicas: 1 }),
        template: { metadata, spec: { containers } },
      }),
    );
    await expect.poll(() => nodesOf("web"), wait).toEqual(["a"]);
    const [pod] = await items(podsPath);
    expect(at(pod, "metadata")).toMatchObject(metadata);
    const path = `${podsPath}/${stringAt(pod, "metadata", "name")}`;
    await server.call("DELETE", path);
    // Its containers end within a fraction of its grace period; the object waits for its finalizer.
    await expect
      .poll(async () => (await server.call("GET", path)).body, wait)
      .toMatchObject({ metadata: { deletionGracePeriodSeconds: 0, uid: stringAt(pod, "metadata", "uid") } });
    await patch(path, { metadata: { finalizers: null } });
    await expect
      .poll(async () => stringAt((await server.call("GET", path)).body, "metadata", "uid"), wait)
      .not.toBe(stringAt(pod, "metadata", "uid"));
  },
);
