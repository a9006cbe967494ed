import { finalizers, labelKeys, type Machine, machineResource } from "@millwright/core/machine-api";
import {
  nodeResource,
  persistentVolumeClaimResource,
  persistentVolumeResource,
  podResource,
  volumeAttachmentResource,
} from "@millwright/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDrainInterests } from "../drain/drain-interests.ts";
import type { DrainView } from "../drain/drain-view.ts";
import { aMachine, aNode, beingDeleted, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { aPodWithVolume } from "../testing/drain-objects.ts";
import { wireTargetCluster } from "./target-triggers.ts";

const ref = { name: "node" };
const claimRef = { namespace: "default", name: "data-web" };

/** The triggers on a cluster with one machine, its node and a pod with a volume; what they enqueue and forget after that. */
async function setUp(machine: Machine = aMachine({ metadata: { labels: { [labelKeys.node]: "node" } } })) {
  const { api, clock, newContext, run } = createTestCluster();
  api.seed(machineResource, machine);
  api.seed(nodeResource, aNode({ metadata: { ...ref, labels: {} } }));
  api.seed(podResource, aPodWithVolume("web", { spec: { nodeName: "node" } }));
  api.seed(persistentVolumeClaimResource, { metadata: { ...claimRef, uid: "uid-claim" }, spec: { volumeName: "pv" } });
  api.seed(persistentVolumeResource, { metadata: { name: "pv", uid: "uid-pv" }, spec: {} });
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  const enqueued: string[] = [];
  const forgotten: string[] = [];
  const interests = createDrainInterests();
  wireTargetCluster(
    context,
    context.target.caches,
    { enqueue: (key) => void enqueued.push(key) },
    {
      interests,
      evictions: { forget: (uid) => void forgotten.push(uid) },
      volumeIds: { forget: (name) => void forgotten.push(name) },
    },
  );
  const settle = (): Promise<void> => clock.advance(100);
  // What exists is enqueued at first.
  await settle();
  enqueued.length = 0;
  return {
    api,
    interests,
    forgotten: async () => (await settle(), forgotten),
    enqueued: async () => (await settle(), [...new Set(enqueued)]),
    count: async () => (await settle(), enqueued.length),
  };
}

const key = `${testNamespace}/machine`;
const leaving = aMachine({ metadata: { labels: { [labelKeys.node]: "node" } } }, beingDeleted());

describe("the machine of a node is enqueued when", () => {
  it.each<[string, object]>([
    ["the spec of the node", { spec: { unschedulable: true } }],
    ["its provider id", { spec: { providerID: "mock:///1" } }],
    ["a label", { metadata: { labels: { a: "b" } } }],
    ["an annotation", { metadata: { annotations: { a: "b" } } }],
    ["its finalizers", { metadata: { finalizers: [finalizers.node] } }],
    ["its capacity", { status: { capacity: { "example.com/gpu": "1" } } }],
    ["its health", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } }],
    ["the time of its deletion", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ])("%s changes", async (_, change) => {
    const { api, enqueued } = await setUp();
    api.change(nodeResource, ref, change);
    expect(await enqueued()).toEqual([key]);
  });

  it.each<[string, object]>([
    [
      "a heartbeat",
      { status: { conditions: [{ type: "PIDPressure", status: "False", lastHeartbeatTime: "2026-01-01T00:00:00Z" }] } },
    ],
    ["volumes of a node that is not drained", { status: { volumesAttached: [{ name: "v", devicePath: "" }] } }],
  ])("but not for %s", async (_, change) => {
    const { api, count } = await setUp();
    api.change(nodeResource, ref, { status: { conditions: [{ type: "PIDPressure", status: "False" }] } });
    const before = await count();
    api.change(nodeResource, ref, change);
    expect(await count()).toBe(before);
  });

  it("the node names it in a label, and nothing else links them", async () => {
    const { api, enqueued } = await setUp(aMachine());
    api.change(nodeResource, ref, { metadata: { labels: { [labelKeys.machineName]: "machine" } } });
    expect(await enqueued()).toEqual([key]);
  });

  it("the machine is being drained, and a pod on another node takes over the volume of one of its pods", async () => {
    const { api, enqueued, interests } = await setUp(leaving);
    const volumes = new Map([["uid-web", [{ claim: "default/data-web", name: "pv" }]]]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of it is not used
    interests.note(key, { pods: [], volumes, record: { moves: [] } } as unknown as DrainView);
    api.seed(
      podResource,
      aPodWithVolume("web", { metadata: { name: "next", uid: "uid-next" }, spec: { nodeName: "b" } }),
    );
    expect(await enqueued()).toEqual([key]);
  });

  it("the machine is being drained, its node is absent, and a pod of it is deleted", async () => {
    const { api, count, enqueued } = await setUp(leaving);
    api.remove(nodeResource, ref);
    const before = await count();
    api.remove(podResource, { namespace: "default", name: "web" });
    expect([await count(), await enqueued()]).toEqual([before + 1, [key]]);
  });

  it("the machine is being drained, and the volumes that its node reports change", async () => {
    const { api, enqueued } = await setUp(leaving);
    api.change(nodeResource, ref, { status: { volumesAttached: [{ name: "v", devicePath: "" }] } });
    expect(await enqueued()).toEqual([key]);
  });

  it("the machine is being deleted, and a claim of a pod on its node changes", async () => {
    const { api, enqueued } = await setUp(leaving);
    api.change(persistentVolumeClaimResource, claimRef, { spec: { volumeName: "pv-2" } });
    expect(await enqueued()).toEqual([key]);
  });

  it("the machine is being deleted, and a VolumeAttachment of its node is deleted", async () => {
    const { api, enqueued } = await setUp(leaving);
    const attachment = { metadata: { name: "va", uid: "uid-va" }, spec: { nodeName: "node", source: {} } };
    api.seed(volumeAttachmentResource, attachment);
    expect(await enqueued()).toEqual([key]);
  });
});

describe("what is kept in memory is forgotten", () => {
  it("with its pod", async () => {
    const { api, forgotten } = await setUp();
    api.remove(podResource, { namespace: "default", name: "web" });
    expect(await forgotten()).toEqual(["uid-web"]);
  });

  it("with its volume", async () => {
    const { api, forgotten } = await setUp();
    api.remove(persistentVolumeResource, { name: "pv" });
    expect(await forgotten()).toEqual(["pv"]);
  });
});
