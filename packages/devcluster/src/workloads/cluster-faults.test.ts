import { afterEach, beforeEach, expect, test } from "vitest";
import { arrayAt, at, field, type Json, type JsonObject, stringAt } from "../json/json.ts";
import { conditionOf, isTrue } from "../objects/conditions.ts";
import { startCluster, type TestCluster } from "../testing/start-cluster.ts";

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

const wait = { timeout: 20_000, interval: 40 };
const pods = "/api/v1/namespaces/default/pods";
const attachments = "/apis/storage.k8s.io/v1/volumeattachments";
const containers = [{ name: "web", image: "web:1" }];

const get = async (path: string): Promise<JsonObject> => (await cluster.call("GET", path)).body;
const items = async (path: string): Promise<readonly Json[]> => arrayAt(await get(path), "items");
const codeOf = async (path: string): Promise<number> => (await cluster.call("GET", path)).code;
const isRunning = async (name: string): Promise<boolean> => isTrue(await get(`${pods}/${name}`), "Ready");
const isNodeReady = async (name: string): Promise<Json | undefined> =>
  field(conditionOf(await get(`/api/v1/nodes/${name}`), "Ready"), "status");
const runPod = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}) =>
  cluster.call("POST", pods, { metadata: { name, labels: { app: name }, ...metadata }, spec: { containers, ...spec } });
/** The events of an object, as `kubectl describe` lists them. */
const eventsOf = async (name: string): Promise<readonly string[]> =>
  (await items("/api/v1/namespaces/default/events"))
    .filter((event) => at(event, "involvedObject", "name") === name)
    .map((event) => `${stringAt(event, "type")} ${stringAt(event, "reason")}: ${stringAt(event, "message")}`);

test("a pod's life is recorded in events, from its scheduling to its end", async () => {
  cluster.join("a");
  await expect.poll(() => isNodeReady("a"), wait).toBe("True");
  await runPod("web-1", { terminationGracePeriodSeconds: 1 });
  await expect.poll(() => isRunning("web-1"), wait).toBe(true);
  await cluster.call("DELETE", `${pods}/web-1`);
  await expect
    .poll(async () => (await eventsOf("web-1")).toSorted(), wait)
    .toEqual([
      "Normal Created: Container created",
      "Normal Killing: Stopping container web",
      'Normal Pulled: Container image "web:1" already present on machine',
      "Normal Scheduled: Successfully assigned default/web-1 to a",
      "Normal Started: Container started",
    ]);
  await runPod("nowhere", { nodeSelector: { zone: "moon" } });
  await expect
    .poll(() => eventsOf("nowhere"), wait)
    .toEqual([
      "Warning FailedScheduling: 0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. " +
        "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    ]);
});

test("a kubelet that stops: the node is tainted, its pods are evicted after their toleration, and stay until the node is out of service", async () => {
  await cluster.stop();
  cluster = await startCluster({ silenceMs: 1_200 });
  cluster.join("a", "b");
  const tolerations = [
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
  ];
  await runPod("brief", { nodeSelector: { zone: "a" }, tolerations });
  await runPod("patient", { nodeSelector: { zone: "a" } });
  await expect.poll(() => isRunning("brief"), wait).toBe(true);
  const fault = cluster.server.clusterFaults.add({ kind: "kubelet-stops", nodes: ["a"] });
  await expect.poll(() => isNodeReady("a"), wait).toBe("Unknown");
  await expect
    .poll(async () => arrayAt(await get("/api/v1/nodes/a"), "spec", "taints"), wait)
    .toMatchObject([
      { key: "node.kubernetes.io/unreachable", effect: "NoSchedule" },
      { key: "node.kubernetes.io/unreachable", effect: "NoExecute" },
    ]);
  await expect.poll(() => isNodeReady("b"), wait).toBe("True");
  await expect.poll(async () => at(await get(`${pods}/brief`), "metadata", "deletionTimestamp"), wait).toBeDefined();
  expect(conditionOf(await get(`${pods}/brief`), "DisruptionTarget")).toMatchObject({
    reason: "DeletionByTaintManager",
  });
  expect(await eventsOf("brief")).toContain("Normal TaintManagerEviction: Marking for deletion Pod default/brief");
  expect(at(await get(`${pods}/patient`), "metadata", "deletionTimestamp")).toBeUndefined();
  // Its grace period may be over: there is no kubelet to end it.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await codeOf(`${pods}/brief`)).toBe(200);
  const taints = arrayAt(await get("/api/v1/nodes/a"), "spec", "taints");
  const outOfService = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
  await cluster.patch("/api/v1/nodes/a", { spec: { taints: [...taints, outOfService] } });
  await expect.poll(() => codeOf(`${pods}/brief`), wait).toBe(404);
  await expect.poll(() => codeOf(`${pods}/patient`), wait).toBe(404);
  fault.remove();
  await expect.poll(() => isNodeReady("a"), wait).toBe("True");
  await expect.poll(async () => arrayAt(await get("/api/v1/nodes/a"), "spec", "taints"), wait).toEqual([outOfService]);
});

test("a volume that never detaches: its pod cannot start elsewhere, with an event, until the volume is detached", async () => {
  cluster.join("a", "b");
  await cluster.call("POST", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "lazy" },
    provisioner: "csi.sim",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const claim = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "lazy",
    resources: { requests: { storage: "1Gi" } },
  };
  await cluster.call("POST", claims, { metadata: { name: "data" }, spec: claim });
  await expect
    .poll(() => eventsOf("data"), wait)
    .toEqual(["Normal WaitForFirstConsumer: waiting for first consumer to be created before binding"]);
  expect(await items("/api/v1/persistentvolumes")).toEqual([]);
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  await runPod("first", { volumes, nodeSelector: { zone: "a" }, terminationGracePeriodSeconds: 1 });
  await expect.poll(() => isRunning("first"), wait).toBe(true);
  expect(await eventsOf("first")).toContainEqual(
    expect.stringMatching(/SuccessfulAttachVolume: AttachVolume.Attach succeeded/),
  );
  const fault = cluster.server.clusterFaults.add({ kind: "never-detaches", nodes: ["a"] });
  await cluster.call("DELETE", `${pods}/first`);
  await runPod("second", { volumes, nodeSelector: { zone: "b" } });
  await expect
    .poll(() => eventsOf("second"), wait)
    .toContainEqual(expect.stringMatching(/^Warning FailedAttachVolume: Multi-Attach error for volume "pvc-/));
  expect(await items(attachments)).toMatchObject([{ spec: { nodeName: "a" }, status: { attached: true } }]);
  expect(await isRunning("second")).toBe(false);
  fault.remove();
  await expect.poll(() => isRunning("second"), wait).toBe(true);
  expect(await items(attachments)).toMatchObject([{ spec: { nodeName: "b" } }]);
  await cluster.call("DELETE", `${pods}/second?gracePeriodSeconds=1`);
  await cluster.call("DELETE", `${claims}/data`);
  await expect.poll(() => items("/api/v1/persistentvolumes"), wait).toEqual([]);
});

test("pods that never end, never start or are not ready recover when the fault is removed", async () => {
  cluster.join("a");
  const { clusterFaults } = cluster.server;
  const start = clusterFaults.add({ kind: "pod-never-starts", names: ["late"] });
  await runPod("late");
  await runPod("stays", { terminationGracePeriodSeconds: 1 });
  await expect.poll(() => isRunning("stays"), wait).toBe(true);
  expect(await isRunning("late")).toBe(false);
  start.remove();
  await expect.poll(() => isRunning("late"), wait).toBe(true);
  clusterFaults.add({ kind: "pod-not-ready", labels: { app: "late" } });
  await expect.poll(() => isRunning("late"), wait).toBe(false);
  const ending = clusterFaults.add({ kind: "pod-never-ends", namespaces: ["default"], names: ["stays"] });
  await cluster.call("DELETE", `${pods}/stays`);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await codeOf(`${pods}/stays`)).toBe(200);
  ending.remove();
  await expect.poll(() => codeOf(`${pods}/stays`), wait).toBe(404);
});

test("a pod with a finalizer ends and stays, without further events of its kubelet", async () => {
  cluster.join("a");
  await runPod("held", { terminationGracePeriodSeconds: 1 }, { finalizers: ["example.io/hold"] });
  await expect.poll(() => isRunning("held"), wait).toBe(true);
  await cluster.call("DELETE", `${pods}/held`);
  const grace = async () => at(await get(`${pods}/held`), "metadata", "deletionGracePeriodSeconds");
  await expect.poll(grace, wait).toBe(0);
  const deletions = () =>
    cluster.server.requests.filter(({ verb, resource }) => verb === "delete" && resource === "pods").length;
  const before = deletions();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(deletions()).toBe(before);
  await cluster.patch(`${pods}/held`, { metadata: { finalizers: null } });
  await expect.poll(() => codeOf(`${pods}/held`), wait).toBe(404);
});

test("faults over HTTP: nodes flap, have further conditions, and do not join", async () => {
  const path = "/millwright/cluster-faults";
  const post = (fault: JsonObject) => cluster.call("POST", path, fault);
  const late = (await post({ kind: "never-joins", nodes: ["b"] })).body;
  expect(late).toMatchObject({ kind: "never-joins", nodes: ["b"], id: expect.any(String) });
  cluster.join("a", "b");
  await expect.poll(() => isNodeReady("a"), wait).toBe("True");
  expect(await codeOf("/api/v1/nodes/b")).toBe(404);
  await cluster.call("DELETE", `${path}/${stringAt(late, "id")}`);
  await expect.poll(() => isNodeReady("b"), wait).toBe("True");

  await post({ kind: "node-condition", nodes: ["a"], type: "ReadonlyFilesystem", reason: "FilesystemIsReadOnly" });
  const condition = async () => conditionOf(await get("/api/v1/nodes/a"), "ReadonlyFilesystem");
  await expect.poll(condition, wait).toMatchObject({ status: "True", reason: "FilesystemIsReadOnly" });
  await post({ kind: "node-flaps", nodes: ["b"], everyMs: 700 });
  const seen: (Json | undefined)[] = [];
  await expect
    .poll(async () => {
      const ready = await isNodeReady("b");
      if (seen.at(-1) !== ready) seen.push(ready);
      return seen.length;
    }, wait)
    .toBeGreaterThan(3);
  expect(await isNodeReady("a")).toBe("True");
  expect(await items(path)).toHaveLength(2);
  await cluster.call("DELETE", path);
  await expect.poll(condition, wait).toMatchObject({ status: "False" });
  await expect.poll(() => isNodeReady("b"), wait).toBe("True");
});

test.each([
  [{}, /kind: expected one of kubelet-stops, never-joins/],
  [{ kind: "earthquake" }, /kind: expected one of kubelet-stops/],
  [{ kind: "kubelet-stops", node: "a" }, /Unrecognized key: "node"/],
  [{ kind: "kubelet-stops", nodes: "a" }, /nodes: .*expected array/],
  [{ kind: "node-flaps", everyMs: 1 }, /everyMs: .*>=50/],
  [{ kind: "node-condition", type: "Ready" }, /type: .*other than Ready/],
  [{ kind: "pod-not-ready", labels: { a: 1 } }, /labels\.a: .*expected string/],
])("an invalid cluster fault is rejected with what is expected: %j", async (fault, message) => {
  const answer = await cluster.call("POST", "/millwright/cluster-faults", fault);
  expect(answer.code).toBe(400);
  expect(answer.body["message"]).toMatch(message);
});
