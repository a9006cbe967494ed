import {
  labelKeys,
  type MachineDeployment,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import {
  deploymentFault,
  failedMachine,
  type ReadNode,
  type ReadShoot,
  scalingInProgress,
  workerWaitsFor,
} from "../harness/gardener-readers.ts";
import { machineClass } from "../harness/installation.ts";

const namespace = "default";
const ref = { namespace, name: "pool" };

let fleet: ControlledFleet;
beforeEach(async () => {
  fleet = await startControlledFleet();
  await fleet.api.create(machineClassResource, machineClass("next"));
  fleet.runAlone();
});
afterEach(() => fleet.close());

/** A deployment as Gardener's worker controller writes it: deployMachineDeployment of its generic actuator. */
const asGardenerWrites = (className: string, replicas: number) => ({
  metadata: { ...ref, labels: { "worker.gardener.cloud/pool": "pool" } },
  spec: {
    replicas,
    minReadySeconds: 500,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels: { name: "pool" } },
    template: {
      metadata: { labels: { name: "pool" } },
      spec: {
        class: { kind: "MachineClass", name: className },
        nodeTemplate: { metadata: { labels: { pool: "pool" } } },
      },
    },
  },
});

async function read(): Promise<ReadShoot> {
  const { api } = fleet;
  // In the order of the worker controller: deployments first.
  const { items: deployments } = await api.list<MachineDeployment>(machineDeploymentResource, { namespace });
  const { items: sets } = await api.list<MachineSet>(machineSetResource, { namespace });
  const machines = await fleet.machines();
  const { items: nodes } = await api.list<ReadNode>(nodeResource);
  return { deployments, sets, machines, nodes };
}

/** Waits until each of Gardener's readers finds the shoot healthy. */
const untilHealthy = (className: string): Promise<ReadShoot> =>
  eventually(async () => {
    const shoot = await read();
    expect({
      waits: workerWaitsFor(shoot, className),
      failed: failedMachine(shoot),
      scaling: scalingInProgress(shoot),
      faults: shoot.deployments.map(deploymentFault),
    }).toEqual({ waits: undefined, failed: undefined, scaling: undefined, faults: [undefined] });
    return shoot;
  }, 90_000);

it("Gardener finds a worker pool healthy, waits during a rolling update until the last old machine is deleted, and finds it healthy again", async () => {
  await fleet.api.create(machineDeploymentResource, asGardenerWrites("small", 2));
  const created = await untilHealthy("small");
  const types = created.deployments[0]?.status?.conditions?.map(({ type }) => type) ?? [];
  // MCM's are first, and each type is there once: Gardener takes the first of a type.
  expect(types.slice(0, 2)).toEqual(["Available", "Progressing"]);
  expect(new Set(types).size).toBe(types.length);
  // Gardener approves certificates of a kubelet by the one machine that has the label.
  for (const { metadata } of created.nodes) {
    const labelSelector = `${labelKeys.node}=${metadata.name ?? ""}`;
    expect((await fleet.api.list(machineResource, { namespace, labelSelector })).items).toHaveLength(1);
    expect(metadata.annotations ?? {}).not.toHaveProperty(["node.machine.sapcloud.io/not-managed-by-mcm"]);
  }

  const { spec } = asGardenerWrites("next", 2);
  await fleet.api.patch(machineDeploymentResource, ref, { spec }, { kind: "merge" });
  const seen: string[] = [];
  await eventually(async () => {
    const shoot = await read();
    const waits = workerWaitsFor(shoot, "next", { isRollingUpdate: true });
    seen.push(waits ?? scalingInProgress(shoot) ?? "healthy");
    expect(waits).toBeUndefined();
    // The worker controller ends here: nothing of the old class may be left.
    expect(shoot.machines.map((machine) => machine.spec.class?.name)).toEqual(["next", "next"]);
  }, 90_000);
  expect(seen.length).toBeGreaterThan(1);
  const { sets } = await untilHealthy("next");
  // Without a limit of the history the old set stays.
  expect(new Set(sets.map(({ spec: { replicas } }) => replicas))).toEqual(new Set([0, 2]));
});

it("Gardener reports the error of a machine that cannot be created, as long as there is one", async () => {
  await fleet.cloud.addFault({ operation: "create", code: "ResourceExhausted", message: "no capacity left", times: 1 });
  await fleet.api.create(machineDeploymentResource, asGardenerWrites("small", 1));
  await eventually(async () => {
    const shoot = await read();
    expect(failedMachine(shoot)).toMatch(/^machine pool-.* failed: .*no capacity left/);
    expect(scalingInProgress(shoot)).toMatch(/^NodesScalingUp: /);
    expect(shoot.machines[0]?.status?.lastOperation).toMatchObject({ errorCode: "ResourceExhausted", state: "Failed" });
  });
  // As an administrator who has raised the quota does: the next attempt is minutes away.
  const [machine] = await fleet.machines();
  await fleet.api.delete(machineResource, { namespace, name: machine?.metadata.name ?? "" });
  await untilHealthy("small");
});

it("Gardener hibernates and deletes a worker pool: replicas 0, then the deployment, leave no machine and no set", async () => {
  await fleet.api.create(machineDeploymentResource, asGardenerWrites("small", 2));
  await untilHealthy("small");
  for (const { metadata } of await fleet.machines())
    await fleet.api.patch(
      machineResource,
      { namespace, name: metadata.name },
      { metadata: { labels: { [labelKeys.forceDeletion]: "True" } } },
      { kind: "merge" },
    );
  await fleet.api.patch(machineDeploymentResource, ref, { spec: { replicas: 0 } }, { kind: "merge" });
  // It waits for this number, and then scales the controllers to 0.
  await eventually(async () => {
    const { deployments } = await read();
    expect(deployments.map(({ status }) => status?.replicas ?? 0)).toEqual([0]);
  }, 90_000);
  expect(fleet.cloud.vms()).toEqual([]);
  await fleet.api.delete(machineDeploymentResource, ref);
  await eventually(async () => {
    const { deployments, sets, machines } = await read();
    expect([deployments, sets, machines]).toEqual([[], [], []]);
  }, 90_000);
});
