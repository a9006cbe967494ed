import { machineClassResource, machineResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import {
  ApiError,
  type ApiObject,
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podDisruptionBudgetResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { createFakeApi, type FakeApi, notServedError, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { type NodeDrainPreview, previewDrain } from "./preview-drain.ts";

const namespace = "machines";
const rulesKey = "machine.millwright.dev/drain-rules";
const clock = createVirtualClock();
const after = (ms: number): string => new Date(clock.now().getTime() + ms).toISOString();
const HOUR = 3_600_000;

const preview = (api: FakeApi, control = api): Promise<NodeDrainPreview> =>
  previewDrain({ target: api, control, namespace, nodeName: "n", clock, signal: new AbortController().signal });

const controller = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }];
const aPod = (name: string, spec: object = {}) => ({
  metadata: { name, namespace: "shop", labels: { app: "web" }, ownerReferences: controller },
  spec: { nodeName: "n", ...spec },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
});
const withClaim = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] };

function aCluster(machine: object | undefined = { labels: { node: "n" } }, spec: object = {}): FakeApi {
  const api = createFakeApi({ clock });
  api.seed(nodeResource, { metadata: { name: "n" }, spec: { providerID: "vm-1" } } as ApiObject);
  if (machine !== undefined)
    api.seed(machineResource, {
      metadata: { name: "m", namespace, ...machine },
      spec: { class: { kind: "MachineClass", name: "small" }, providerID: "other-form-1", ...spec },
    } as ApiObject);
  return api;
}
const aClass = (annotations: object): ApiObject =>
  ({ metadata: { name: "small", namespace, annotations }, provider: "mock", providerSpec: {} }) as ApiObject;

describe("previewDrain", () => {
  it("reads the pods of the node with budgets and volumes, and writes nothing", async () => {
    const api = aCluster();
    api.seed(podResource, aPod("db", withClaim));
    api.seed(podResource, aPod("elsewhere", { nodeName: "other" }));
    api.seed(podDisruptionBudgetResource, {
      metadata: { name: "web", namespace: "shop" },
      spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
      status: { observedGeneration: 1, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 },
    } as ApiObject);
    api.seed(persistentVolumeClaimResource, {
      metadata: { name: "data", namespace: "shop" },
      spec: { volumeName: "pv" },
    } as ApiObject);
    api.seed(persistentVolumeResource, {
      metadata: { name: "pv" },
      spec: { csi: { driver: "csi", volumeHandle: "vol-1" } },
    } as ApiObject);
    api.seed(volumeAttachmentResource, {
      metadata: { name: "a" },
      spec: { nodeName: "n", source: { persistentVolumeName: "pv" } },
    } as ApiObject);
    const result = await preview(api);
    expect(result).toMatchObject({
      node: "n",
      isCordoned: false,
      machine: { namespace, name: "m", isBeingDeleted: false },
      outcome: "blocked",
      startedAt: after(0),
      deadline: after(2 * HOUR),
    });
    expect(result.pods).toMatchObject([
      {
        name: "db",
        budget: { state: "misconfigured" },
        volumes: [{ name: "pv", claim: "shop/data", volumeId: "vol-1", isAttachedHere: true }],
      },
    ]);
    expect(result.because.join()).toContain("PodDisruptionBudget shop/web can never be met");
    expect(api.writes()).toEqual([]);
  });

  it("does without claims and volumes that are not there", async () => {
    const api = aCluster();
    api.seed(podResource, aPod("db", withClaim));
    api.seed(podResource, aPod("lost", { volumes: [{ name: "x", persistentVolumeClaim: { claimName: "lost" } }] }));
    api.seed(persistentVolumeClaimResource, {
      metadata: { name: "data", namespace: "shop" },
      spec: { volumeName: "gone" },
    } as ApiObject);
    expect(await preview(api)).toMatchObject({ outcome: "completes", pods: [{ volumes: [] }, { volumes: [] }] });
  });

  it.each([
    ["its VM", {}, { providerID: "vm-1" }],
    ["its label", { labels: { node: "n" } }, {}],
  ])("finds the machine of the node by %s", async (_, metadata, spec) => {
    expect((await preview(aCluster(metadata, spec))).machine?.name).toBe("m");
  });

  it("knows no machine of the node that only a machine without a VM names", async () => {
    expect(await preview(aCluster({ labels: { node: "n" } }, { providerID: "" }))).not.toHaveProperty("machine");
  });

  it("knows a cluster that does not serve our kinds, where no node has a machine", async () => {
    const api = createFakeApi({ clock });
    api.seed(nodeResource, { metadata: { name: "n" } });
    api.inject({ type: machineResource, error: notServedError(), times: 9 });
    expect(await preview(api)).not.toHaveProperty("machine");
  });

  it("finds the machine of the node by the node's label, and knows nodes without a machine", async () => {
    const api = aCluster({}, {});
    expect(await preview(api)).not.toHaveProperty("machine");
    const labels = { "node.gardener.cloud/machine-name": "m" };
    await api.patch(nodeResource, { name: "n" }, { metadata: { labels } }, { kind: "merge" });
    expect((await preview(api)).machine?.name).toBe("m");
  });

  it("goes on with a drain that has begun, in the machine's own times", async () => {
    const clock = { startedAt: after(-HOUR), countedUntil: after(-60_000), countedMs: HOUR - 60_000 };
    const annotations = { "machine.millwright.dev/drain-state": JSON.stringify({ moves: [], clock }) };
    const metadata = { deletionTimestamp: after(-HOUR), finalizers: ["f"], labels: { node: "n" }, annotations };
    expect(await preview(aCluster(metadata, { drainTimeout: "3h", maxEvictRetries: 180 }))).toMatchObject({
      machine: { isBeingDeleted: true },
      startedAt: after(-HOUR),
      evictUntil: after(0),
      deadline: after(2 * HOUR),
    });
  });

  it("follows the rules of the class, unless the machine has its own", async () => {
    const rules = (behavior: string) => ({ [rulesKey]: JSON.stringify([{ behavior }]) });
    const api = aCluster();
    api.seed(podResource, aPod("web"));
    api.seed(machineClassResource, aClass(rules("Skip")));
    expect((await preview(api)).pods).toMatchObject([{ verdict: { behavior: "skip", reason: "rule" } }]);
    const own = { metadata: { annotations: rules("Drain") } };
    await api.patch(machineResource, { namespace, name: "m" }, own, { kind: "merge" });
    expect((await preview(api)).pods).toMatchObject([{ verdict: { behavior: "evict" } }]);
  });

  it("reports why rules are ignored", async () => {
    const api = aCluster();
    api.seed(machineClassResource, aClass({ [rulesKey]: "[{" }));
    expect((await preview(api)).problem).toContain('MachineClass "small"');
  });

  it("names a node that is not there", async () => {
    await expect(preview(createFakeApi())).rejects.toThrow('there is no node "n"');
  });

  it("names the permission that is missing, and all that are needed", async () => {
    const api = aCluster();
    api.inject({
      type: podDisruptionBudgetResource,
      error: new ApiError({ status: 403, reason: "Forbidden", message: 'budgets is forbidden: User "u"' }),
      times: 9,
    });
    api.seed(podResource, aPod("web"));
    await expect(preview(api)).rejects.toThrow(/forbidden.*needs get and list on nodes, pods/i);
  });

  it("reports an unreachable API server", async () => {
    const api = aCluster();
    api.inject({ type: nodeResource, error: serverError(), times: 9 });
    await expect(preview(api)).rejects.toThrow("the API server is unreachable");
  });
});
