import { isConfigError } from "@millwright/base";
import { machineDeploymentResource, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { describeDeployment } from "./describe-deployment.ts";

const namespace = "default";
const clock = createVirtualClock();
const revision = (value: string) => ({ annotations: { "deployment.kubernetes.io/revision": value } });
const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: "machine.sapcloud.io/v1alpha1", kind, name, uid: `uid-${name}`, controller: true }],
});
const template = (name: string) => ({ spec: { class: { kind: "MachineClass", name } } });

/** A rollout in progress from class small to large, next to another deployment. */
function aCluster() {
  const api = createFakeApi();
  const deployment = {
    metadata: { name: "pool", namespace, uid: "uid-pool", generation: 3, ...revision("2") },
    spec: { replicas: 3, template: template("large") },
    status: {
      observedGeneration: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      updatedReplicas: 1,
      conditions: [
        {
          type: "RollingOut",
          status: "True",
          lastTransitionTime: "2026-01-01T00:00:00Z",
          reason: "RollingOut",
          message: "Rolling out 2",
        },
      ],
      failedMachines: [{ name: "pool-new-1", lastOperation: { description: "no quota" } }],
    },
  };
  api.seed(machineDeploymentResource, deployment);
  const seedSet = (name: string, parent: string, number: string, className: string): void =>
    void api.seed(machineSetResource, {
      metadata: { name, namespace, uid: `uid-${name}`, ...revision(number), ...owner("MachineDeployment", parent) },
      spec: { replicas: 2, template: template(className) },
    });
  seedSet("pool-old", "pool", "1", "small");
  seedSet("pool-new", "pool", "2", "large");
  seedSet("other-set", "other", "2", "large");
  const seedMachine = (name: string, set: string, phase: string, more: object = {}): void =>
    void api.seed(machineResource, {
      metadata: { name, namespace, ...owner("MachineSet", set), ...more },
      spec: template("small").spec,
      status: phase === "" ? {} : { currentStatus: { phase } },
    });
  seedMachine("a", "pool-old", "Running");
  seedMachine("b", "pool-old", "Running");
  seedMachine("c", "pool-old", "Running", {
    deletionTimestamp: "2026-01-01T00:00:00Z",
    finalizers: ["machine.sapcloud.io/machine-controller-manager"],
  });
  seedMachine("d", "pool-new", "");
  seedMachine("e", "other-set", "Running");
  return api;
}

it("reports the deployment, its own sets from the newest on, and their machines by phase", async () => {
  const report = await describeDeployment({ clock, control: aCluster(), namespace, name: "pool" });
  expect(report).toEqual({
    name: "pool",
    namespace,
    isObserved: false,
    strategy: "RollingUpdate",
    className: "large",
    desired: 3,
    ready: 2,
    available: 2,
    updated: 1,
    conditions: [
      {
        type: "RollingOut",
        status: "True",
        since: "2026-01-01T00:00:00Z",
        reason: "RollingOut",
        message: "Rolling out 2",
      },
    ],
    sets: [
      {
        name: "pool-new",
        revision: "2",
        isCurrent: true,
        className: "large",
        desired: 2,
        phases: { "being created": 1 },
      },
      {
        name: "pool-old",
        revision: "1",
        isCurrent: false,
        className: "small",
        desired: 2,
        phases: { Running: 2, Terminating: 1 },
      },
    ],
    failed: [{ name: "pool-new-1", message: "no quota" }],
    tree: expect.objectContaining({ kind: "MachineDeployment", name: "pool", state: "waiting" }),
    notes: [],
  });
});

it("writes nothing", async () => {
  const api = aCluster();
  await describeDeployment({ clock, control: api, namespace, name: "pool" });
  expect(api.writes()).toEqual([]);
});

it("reports an unknown deployment, missing permissions, and an unreachable API server", async () => {
  const api = aCluster();
  const missing = await describeDeployment({ clock, control: api, namespace, name: "none" }).catch(
    (error: unknown) => error,
  );
  expect(isConfigError(missing)).toBe(true);
  expect(String(missing)).toContain('there is no MachineDeployment "none" in namespace default');
  const described = () =>
    describeDeployment({ clock, control: api, namespace, name: "pool" }).catch((error: unknown) => error);
  api.inject({ verb: "list", type: machineSetResource, error: serverError() });
  const failed = await described();
  expect(isConfigError(failed)).toBe(true);
  expect(String(failed)).toContain("the API server is unreachable");
  api.inject({
    verb: "list",
    type: machineResource,
    error: new ApiError({ status: 403, reason: "Forbidden", message: "machines is forbidden" }),
  });
  expect(String(await described())).toContain("machines is forbidden; a description needs to list machinedeployments");
  api.inject({ verb: "list", type: machineResource, error: new TypeError("a fault of ours") });
  expect(isConfigError(await described())).toBe(false);
});

it("names what cannot be read in a deployment", async () => {
  const api = createFakeApi();
  api.seed(machineDeploymentResource, { metadata: { name: "odd", namespace }, spec: { replicas: "many" } } as never);
  const asked = describeDeployment({ clock, control: api, namespace, name: "odd" });
  await expect(asked).rejects.toThrow(/^MachineDeployment "odd" cannot be read: .*spec/s);
});
