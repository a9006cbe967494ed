import { describe, expect, it } from "vitest";
import type { Pod } from "../model/node-objects.ts";
import { trimPod } from "./trim-pod.ts";

const whole = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "default",
    uid: "u",
    resourceVersion: "7",
    creationTimestamp: "2026-01-01T00:00:00Z",
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: ["x/y"],
    labels: { app: "web" },
    annotations: { "kubernetes.io/config.mirror": "", "checksum/config": "0123456789abcdef" },
    ownerReferences: [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "r", controller: true },
      { apiVersion: "v1", kind: "Other", name: "o", uid: "o" },
    ],
  },
  spec: {
    nodeName: "node",
    priority: 5,
    terminationGracePeriodSeconds: 30,
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
      { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
    ],
    containers: [{ name: "web", image: "web:1" }],
    volumes: [
      { name: "data", persistentVolumeClaim: { claimName: "data" } },
      { name: "own", ephemeral: {} },
      { name: "tmp", emptyDir: {} },
      { name: "token", projected: {} },
    ],
  },
  status: {
    phase: "Running",
    podIP: "10.0.0.1",
    conditions: [
      { type: "Initialized", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
      { type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
      { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ],
  },
};

describe("trimPod", () => {
  it("keeps what a drain reads and nothing else", () => {
    const { metadata, spec } = whole;
    const { annotations, ownerReferences, ...kept } = metadata;
    expect(trimPod(whole)).toEqual({
      metadata: {
        ...kept,
        annotations: { "kubernetes.io/config.mirror": annotations["kubernetes.io/config.mirror"] },
        ownerReferences: ownerReferences.slice(0, 1),
      },
      spec: {
        nodeName: "node",
        priority: 5,
        terminationGracePeriodSeconds: 30,
        volumes: spec.volumes.slice(0, 3),
        tolerations: spec.tolerations.slice(1),
      },
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  });

  it("keeps why a pod has no node", () => {
    const conditions = [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available" },
    ];
    const pod: Pod = { metadata: { name: "web" }, status: { phase: "Pending", conditions } };
    expect(trimPod(pod).status).toEqual({
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
    });
  });

  it("adds no fields to a minimal pod", () => {
    const bare: Pod = { metadata: { name: "web" } };
    expect(trimPod(bare)).toEqual({ metadata: { name: "web" }, spec: {}, status: {} });
  });
});
