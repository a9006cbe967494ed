import {
  type Machine,
  type MachineDeployment,
  type MachineSet,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
} from "@millwright/core/machine-api";
import { drainSourcesOf } from "../describe/drain-sources-of.ts";
import type { ClusterObjects } from "../explain/cluster-objects.ts";

const namespace = "default";
export const now = new Date("2026-01-01T00:10:00Z");
export const since = "2026-01-01T00:05:00Z";
const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: "machine.sapcloud.io/v1alpha1", kind, name, uid: `uid-${name}`, controller: true }],
});
export const template = (className: string) => ({
  metadata: { labels: { name: "pool" } },
  spec: { class: { kind: "MachineClass", name: className } },
});
const selector = { matchLabels: { name: "pool" } };
export const condition = (type: string, status: string, message: string) => ({
  type,
  status,
  reason: type,
  message,
  lastTransitionTime: since,
});

export function must<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!result.ok) throw new Error("the object of the test cannot be read");
  return result.value;
}

export const aDeployment = (status: object = {}, spec: object = {}): MachineDeployment =>
  must(
    readMachineDeployment({
      metadata: { name: "pool", namespace, uid: "uid-pool", annotations: { "deployment.kubernetes.io/revision": "1" } },
      spec: { replicas: 2, selector, template: template("small"), ...spec },
      status: { readyReplicas: 2, updatedReplicas: 2, availableReplicas: 2, ...status },
    }),
  );
export const aSet = (conditions: readonly object[] = [], ready = 2): MachineSet =>
  must(
    readMachineSet({
      metadata: {
        name: "pool-s",
        namespace,
        uid: "uid-pool-s",
        annotations: { "deployment.kubernetes.io/revision": "1" },
        ...owner("MachineDeployment", "pool"),
      },
      spec: { replicas: 2, selector, template: template("small") },
      status: { readyReplicas: ready, machineSetCondition: conditions },
    }),
  );
export const aMachine = (name: string, phase: string, status: object = {}, metadata: object = {}): Machine =>
  must(
    readMachine({
      metadata: {
        name,
        namespace,
        uid: `uid-${name}`,
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { node: name },
        ...owner("MachineSet", "pool-s"),
        ...metadata,
      },
      spec: {
        ...template("small").spec,
        ...(phase === "Running" || phase === "Unknown" ? { providerID: `mock:///${name}` } : {}),
      },
      status: { currentStatus: { phase, lastUpdateTime: since }, ...status },
    }),
  );
const good = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({ type, status: "False" }));
export const aNode = (name: string, ready = "True") => ({
  metadata: { name },
  spec: { providerID: `mock:///${name}` },
  status: {
    conditions: [
      ...good,
      {
        type: "Ready",
        status: ready,
        reason: "Kubelet",
        message: "container runtime is down",
        lastTransitionTime: since,
      },
    ],
  },
});
export const failed = (errorCode: string, message: string, attempts = "") => ({
  lastOperation: {
    type: "Create",
    state: "Failed",
    errorCode,
    description: `Cloud provider message - machine codes error: code = [${errorCode}] message = [${message}]${attempts}`,
    lastUpdateTime: "2026-01-01T00:09:00Z",
  },
});
export const small = must(
  readMachineClass({
    metadata: { name: "small", namespace },
    provider: "mock",
    providerSpec: {},
    secretRef: { name: "cloud", namespace },
  }),
);

export const objectsOf = (change: Partial<ClusterObjects> = {}): ClusterObjects => ({
  namespace,
  deployments: [aDeployment()],
  sets: [aSet()],
  machines: [aMachine("a", "Running"), aMachine("b", "Running")],
  classes: [small],
  nodes: [aNode("a"), aNode("b")],
  notes: [],
  drainSources: async () => drainSourcesOf({ pods: [], budgets: [], claims: [], volumes: [], attachments: [] }),
  ...change,
});
export const pool = { kind: "MachineDeployment", name: "pool" } as const;
