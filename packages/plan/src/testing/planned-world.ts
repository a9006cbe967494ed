import { finalizers, labelKeys, machineApiVersion } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { PlannedChange } from "../changes/apply-changes.ts";
import type { ManifestObject } from "../state/cluster-state.ts";

/** The namespace of the machines. */
export const namespace = "machines";

/** When the plan is made. */
export const now = new Date("2026-03-01T00:00:00Z");

/** The labels by which a set selects its machines. */
export const labels = { name: "pool" };

const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});

/** A machine template. */
export const template = (className = "small", spec: object = {}) => ({
  metadata: { labels },
  spec: { class: { kind: "MachineClass", name: className }, ...spec },
});

/** Metadata of an object of ours. */
export const meta = (name: string, extra: object = {}) => ({
  name,
  namespace,
  uid: `uid-${name}`,
  creationTimestamp: "2026-01-01T00:00:00Z",
  finalizers: [finalizers.machine],
  ...extra,
});

/** A deployment of two machines of class `small`. */
export const pool = (change: object = {}, extra: object = {}) => ({
  apiVersion: machineApiVersion,
  kind: "MachineDeployment",
  metadata: meta("pool", extra),
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template(), ...change },
});

/** Its set. */
export const set = {
  apiVersion: machineApiVersion,
  kind: "MachineSet",
  metadata: meta("pool-1", { labels, ...owner("MachineDeployment", "pool") }),
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template() },
};

/** A machine of the set, which runs on the node of its name. */
export const machine = (name: string) => ({
  apiVersion: machineApiVersion,
  kind: "Machine",
  metadata: meta(name, { labels: { ...labels, [labelKeys.node]: `node-${name}` }, ...owner("MachineSet", "pool-1") }),
  spec: { class: { kind: "MachineClass", name: "small" } },
  status: { currentStatus: { phase: "Running" }, joinDuration: "2m0s" },
});

/** A class. */
export const small = {
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: meta("small"),
  provider: "mock",
  providerSpec: { size: 1 },
};

/** Another class. */
export const big = { ...small, metadata: meta("big") };

/** A node. */
export const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "web",
    labels: { app: "web" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }],
  },
  spec: { nodeName: "node-a" },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
};

const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web", namespace: "shop", generation: 1 },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
  status: { observedGeneration: 1, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 },
};

/** The last event about a deleted machine. */
export const lastEvent = (uid: string, took: string, extra: object = {}) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `${uid}.1`, namespace, ...extra },
  involvedObject: { kind: "Machine", namespace, name: uid, uid },
  reason: "Deleting",
  message: `Drain successful. VM deletion was successful; machine deleted after ${took}`,
});

/** Those of three machines, which took five minutes, one and three. */
export const lastEvents = [lastEvent("x", "5m0s"), lastEvent("y", "1m0s"), lastEvent("z", "3m0s")];

/** All objects: the deployment and what belongs to it, and a pod whose budget blocks a drain. */
export const world: readonly ApiObject[] = [
  pool(),
  set,
  machine("a"),
  machine("b"),
  small,
  node("node-a"),
  node("node-b"),
  pod,
  budget,
];

/** Objects as read from a file. */
export const manifests = (objects: readonly ApiObject[]): readonly ManifestObject[] =>
  objects.map((object) => ({ source: "state.yaml", object }));

/** A user applies a manifest. */
export const apply = (object: ApiObject): PlannedChange => ({ kind: "apply", source: "new.yaml", object });
