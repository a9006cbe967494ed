import { isConfigError } from "@millwright/base";
import { machineApiVersion, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createFakeApi, type FakeApi, serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { describeSet } from "./describe-set.ts";

const namespace = "default";
const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});
const template = { spec: { class: { kind: "MachineClass", name: "small" } } };

function aCluster(ownership: object = owner("MachineDeployment", "pool")): FakeApi {
  const api = createFakeApi();
  api.seed(machineSetResource, {
    metadata: {
      name: "pool-1",
      namespace,
      uid: "uid-pool-1",
      generation: 2,
      annotations: { "deployment.kubernetes.io/revision": "3", "machine.millwright.dev/expected-replica": "2" },
      ...ownership,
    },
    spec: { replicas: 2, template },
    status: {
      observedGeneration: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      machineSetCondition: [{ type: "ScalingUp", status: "True", reason: "ScalingUp", message: "Scaling up" }],
      failedMachines: [{ name: "b", lastOperation: { description: "no quota" } }],
    },
  } as never);
  const seedMachine = (name: string, set: string, status: object, metadata: object = {}): void =>
    void api.seed(machineResource, {
      metadata: { name, namespace, ...owner("MachineSet", set), ...metadata },
      spec: template.spec,
      status,
    });
  seedMachine("a", "pool-1", { currentStatus: { phase: "Running" } });
  seedMachine("b", "pool-1", {});
  const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.com/kept"] };
  const held = { lastOperation: { type: "Delete", description: "Deletion held for approval: too many" } };
  seedMachine("d", "pool-1", held, terminating);
  seedMachine("e", "pool-1", {}, terminating);
  seedMachine("c", "pool-2", { currentStatus: { phase: "Running" } });
  return api;
}

it("reports the set, its deployment, its own machines by phase, and its conditions, and writes nothing", async () => {
  const api = aCluster();
  expect(await describeSet({ control: api, namespace, name: "pool-1" })).toEqual({
    name: "pool-1",
    namespace,
    deployment: "pool",
    isObserved: true,
    revision: "3",
    className: "small",
    desired: 2,
    ready: 1,
    available: 1,
    phases: { Running: 1, Terminating: 1, "Terminating (held)": 1, "being created": 1 },
    conditions: [{ type: "ScalingUp", status: "True", since: "", reason: "ScalingUp", message: "Scaling up" }],
    failed: [{ name: "b", message: "no quota" }],
    notes: [expect.stringContaining("machine.millwright.dev/expected-replica, which is unknown")],
  });
  expect(api.writes()).toEqual([]);
});

it.each([
  ["no owner", {}],
  ["another owner", owner("Fleet", "f")],
])("names no deployment for a set that %s controls", async (_, ownership) => {
  const { deployment } = await describeSet({ control: aCluster(ownership), namespace, name: "pool-1" });
  expect(deployment).toBe("");
});

it("reports an unknown set, an invalid one, and an unreachable API server", async () => {
  const api = aCluster();
  const errorOf = async (name: string): Promise<string> => {
    const failed: unknown = await describeSet({ control: api, namespace, name }).catch((error: unknown) => error);
    expect(isConfigError(failed)).toBe(true);
    return String(failed);
  };
  expect(await errorOf("none")).toContain(
    'there is no MachineSet "none" in namespace default; "kubectl get machinesets -A"',
  );
  api.seed(machineSetResource, { metadata: { name: "odd", namespace }, spec: { replicas: "many" } } as never);
  expect(await errorOf("odd")).toMatch(/MachineSet "odd" cannot be read: .*spec/s);
  api.inject({ verb: "list", type: machineResource, error: serverError() });
  expect(await errorOf("pool-1")).toContain("the API server is unreachable");
});
