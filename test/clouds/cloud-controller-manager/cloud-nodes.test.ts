import { systemClock } from "@millwright/base";
import { createApiServer, uninitializedTaint } from "@millwright/devcluster";
import { createApiClient, isNotFound, type KubeObject, nodeResource } from "@millwright/kube";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../../harness/eventually.ts";
import { ec2MachineId, ec2Node } from "./aws.ts";
import { azureMachineId, azureNode } from "./azure.ts";
import type { CloudInstance } from "./cloud-instance.ts";
import { type CloudNodesOptions, followInstances } from "./cloud-nodes.ts";
import { gceMachineId, gceNode } from "./gcp.ts";

const ec2 = {
  id: "i-0123456789abcdef0",
  region: "eu-west-1",
  availabilityZone: "eu-west-1a",
  instanceType: "m5.large",
  privateDnsName: "ip-10-0-0-1.eu-west-1.compute.internal",
  privateIp: "10.0.0.1",
  isRunning: true,
};

it("gives the Node of an EC2 instance the provider id with the availability zone, and a system UUID of EC2", () => {
  const node = ec2Node({ ...ec2, publicIp: "203.0.113.7" });
  expect(node).toMatchObject({
    nodeName: "ip-10-0-0-1.eu-west-1.compute.internal",
    providerId: "aws:///eu-west-1a/i-0123456789abcdef0",
    zone: "eu-west-1a",
    region: "eu-west-1",
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "203.0.113.7" },
      { type: "InternalDNS", address: "ip-10-0-0-1.eu-west-1.compute.internal" },
      { type: "Hostname", address: "ip-10-0-0-1.eu-west-1.compute.internal" },
    ],
  });
  expect(ec2MachineId(node)).toBe("aws:///eu-west-1/i-0123456789abcdef0");
  expect(node.systemUuid).toMatch(/^ec2[0-9a-f]{5}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(node.systemUuid).not.toContain("0123456789abcdef0");
});

it("gives the Node of a Compute Engine instance the provider id with two slashes", () => {
  const instance = {
    id: "7000000000000000001",
    name: "fleet-1",
    project: "my-project",
    zone: "europe-west1-b",
    machineType: "n2-standard-2",
    networkIp: "10.0.0.1",
    externalIps: [],
    isRunning: true,
  };
  const node = gceNode(instance);
  expect(gceMachineId(node)).toBe("gce:///my-project/europe-west1-b/fleet-1");
  expect(node).toMatchObject({
    nodeName: "fleet-1",
    providerId: "gce://my-project/europe-west1-b/fleet-1",
    zone: "europe-west1-b",
    region: "europe-west1",
  });
});

it("gives the Node of an Azure VM its resource id, of which the resource group alone is in lower case", () => {
  const group = "/subscriptions/00000000-AAAA-0000-0000-000000000000/resourceGroups/MC_Shoot";
  const compute = "providers/Microsoft.Compute";
  const vm = {
    id: `${group}/${compute}/virtualMachines/Fleet-1`,
    vmId: "2f8a5b0c-0000-4000-8000-000000000001",
    computerName: "Fleet-1",
    location: "WestEurope",
    zones: ["1"],
    vmSize: "Standard_D2s_v5",
    privateIp: "10.250.0.1",
    isRunning: true,
  };
  const lower = "azure:///subscriptions/00000000-AAAA-0000-0000-000000000000/resourceGroups/mc_shoot";
  expect(azureMachineId(azureNode(vm))).toBe("azure:///westeurope/Fleet-1");
  expect(azureNode(vm)).toMatchObject({
    nodeName: "fleet-1",
    systemUuid: vm.vmId,
    providerId: `${lower}/${compute}/virtualMachines/Fleet-1`,
    zone: "westeurope-1",
    region: "westeurope",
  });
  const ofScaleSet = { ...vm, id: `${group}/${compute}/virtualMachineScaleSets/Set/virtualMachines/3`, zones: [] };
  expect(azureNode(ofScaleSet)).toMatchObject({
    providerId: `${lower}/${compute}/virtualMachineScaleSets/Set/virtualMachines/3`,
    zone: "0",
  });
});

/** A cluster whose nodes follow the instances. */
async function follow(options: Partial<CloudNodesOptions> = {}) {
  const server = createApiServer();
  const { url } = await server.listen();
  const api = createApiClient({ server: url });
  const stop = new AbortController();
  let instances: readonly CloudInstance[] = [];
  const ended = followInstances({ api, clock: systemClock, instances: () => instances, ...options }, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ended;
    await api.close();
    await server.close();
  });
  return {
    api,
    become(...next: readonly CloudInstance[]) {
      instances = next;
    },
    /** The Node of that name; undefined when it does not exist. */
    node: (name: string): Promise<KubeObject | undefined> =>
      api.get(nodeResource, { name }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
  };
}

const instance = ec2Node(ec2);
const name = instance.nodeName;
const ready = (status: "True" | "False") => ({
  status: { conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status })]) },
});

it("registers a node with the taint and without provider ID and addresses until it is initialized", async () => {
  const { become, node } = await follow({ initializeMs: Number.POSITIVE_INFINITY });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject(ready("True")));
  await systemClock.sleep(1_000);
  const joined = await node(name);
  expect(joined?.["spec"]).toEqual({ taints: [uninitializedTaint] });
  expect(joined?.["status"]).not.toHaveProperty("addresses");
  expect(joined?.["status"]).toMatchObject({ nodeInfo: { systemUUID: instance.systemUuid } });
});

it("initializes a node with provider ID, labels and addresses, and removes the taint", async () => {
  const { become, node } = await follow({ initializeMs: 200 });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject({ status: { addresses: instance.addresses } }));
  const initialized = await node(name);
  expect(initialized).toMatchObject({
    metadata: {
      labels: {
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "eu-west-1a",
        "topology.kubernetes.io/region": "eu-west-1",
      },
    },
    spec: { providerID: "aws:///eu-west-1a/i-0123456789abcdef0" },
  });
  expect(JSON.stringify(initialized?.["spec"])).not.toContain(uninitializedTaint.key);
});

it("keeps the taints that other clients set on a node before it was initialized", async () => {
  const { api, become, node } = await follow({ initializeMs: 2_000 });
  become(instance);
  const other = { key: "example.com/agent-not-ready", effect: "NoSchedule" };
  await eventually(async () => {
    const patch = { spec: { taints: [uninitializedTaint, other] } };
    await api.patch(nodeResource, { name }, patch, { kind: "merge" });
  });
  await eventually(async () => expect(await node(name)).toMatchObject({ spec: { providerID: instance.providerId } }));
  expect(await node(name)).toMatchObject({ spec: { taints: [other] } });
});

it("reports a node of a stopped instance as not ready, and deletes it only when the instance no longer exists", async () => {
  const { become, node } = await follow({ initializeMs: 0, removeMs: 200 });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject({ spec: { providerID: instance.providerId } }));
  become({ ...instance, isRunning: false });
  await eventually(async () => expect(await node(name)).toMatchObject(ready("False")));
  become();
  await eventually(async () => expect(await node(name)).toBeUndefined());
});

it("deletes a Node whose instance ended before it was initialized", async () => {
  const { become, node } = await follow({ initializeMs: Number.POSITIVE_INFINITY, removeMs: 200 });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject(ready("True")));
  become();
  await eventually(async () => expect(await node(name)).toBeUndefined());
});

it("ignores Nodes with the provider ID of another cloud", async () => {
  const { api, become, node } = await follow({ initializeMs: 0, removeMs: 0 });
  const foreign = { metadata: { name }, spec: { providerID: "aws:///eu-west-1a/i-0fedcba9876543210" } };
  await api.create(nodeResource, { ...foreign, apiVersion: "v1", kind: "Node" });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject(ready("True")));
  become();
  await systemClock.sleep(1_000);
  expect(await node(name)).toMatchObject(foreign);
});

it("registers nodes with the provider ID of their kubelets when there is no cloud controller manager", async () => {
  const { become, node } = await follow({ kubeletProviderId: ec2MachineId, removeMs: 100 });
  become(instance);
  await eventually(async () => expect(await node(name)).toMatchObject(ready("True")));
  expect((await node(name))?.["spec"]).toEqual({ providerID: "aws:///eu-west-1/i-0123456789abcdef0" });
  become();
  await eventually(async () => expect(await node(name)).toBeUndefined());
});
