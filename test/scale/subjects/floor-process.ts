/**
 * Creates the machines of a MachineDeployment with the least requests: each machine is created, gets the provider ID of its VM, and is Running when its Node has
 * joined, which gets its name. No status before that, no set, no events, no check of anything: a crash loses VMs. Started by floor.ts.
 */
import {
  labelKeys,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  systemClock,
  systemRandom,
} from "@millwright/core";
import {
  type ApiClient,
  createApiClient,
  createInformer,
  type KubeObject,
  loadKubeConfig,
  nodeResource,
  secretResource,
} from "@millwright/kube";
import { createCloudClient, type MockCloud } from "@millwright/provider-mock";
import { floorAgent } from "./floor-agent.ts";

type Node = KubeObject & { readonly spec?: { readonly providerID?: string } };

const namespace = "default";
/** Machines that are being created at once. */
const CONCURRENCY = 50;

async function connect(api: ApiClient): Promise<MockCloud> {
  const secret = await api.get<KubeObject & { data?: Record<string, string> }>(secretResource, {
    namespace,
    name: "cloud",
  });
  return createCloudClient({ endpoint: Buffer.from(secret.data?.["endpoint"] ?? "", "base64").toString() });
}

/** @returns the provider ID of its VM */
async function create(api: ApiClient, cloud: MockCloud, name: string): Promise<string> {
  const ref = { namespace, name };
  const spec = { class: { kind: "MachineClass", name: "small" } };
  const machine = await api.create<Machine>(machineResource, {
    metadata: { ...ref, labels: { name: "fleet" } },
    spec,
  });
  const token = machine.metadata.uid ?? "";
  const vm = await cloud.createVm({
    name,
    token,
    machineType: "small",
    region: "local",
    zone: "local-a",
    image: "base",
  });
  await api.patch(machineResource, ref, { spec: { providerID: vm.providerId } }, { kind: "merge" });
  return vm.providerId;
}

async function join(api: ApiClient, name: string, node: string): Promise<void> {
  await api.patch(
    nodeResource,
    { name: node },
    { metadata: { labels: { [labelKeys.machineName]: name } } },
    { kind: "merge" },
  );
  const lastUpdateTime = new Date().toISOString();
  const status = { currentStatus: { phase: "Running", lastUpdateTime } };
  await api.patch(machineResource, { namespace, name }, { status }, { kind: "merge", subresource: "status" });
}

const [, , kubeconfig = ""] = process.argv;
const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: floorAgent });
const options = { api, clock: systemClock, random: systemRandom };
const nodes = createInformer<Node>({ ...options, type: nodeResource });
const deployments = createInformer<MachineDeployment>({ ...options, type: machineDeploymentResource });
const waiting = new Map<string, (node: string) => void>();
const present = new Map<string, string>();
nodes.store.subscribe((_, node) => {
  const id = node?.spec?.providerID;
  if (node === undefined || id === undefined) return;
  const { name = "" } = node.metadata;
  present.set(id, name);
  waiting.get(id)?.(name);
  waiting.delete(id);
});
const joined = (id: string): Promise<string> =>
  new Promise((resolve) => {
    const name = present.get(id);
    if (name === undefined) waiting.set(id, resolve);
    else resolve(name);
  });

async function createAll(replicas: number): Promise<void> {
  const cloud = await connect(api);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < replicas) {
      const name = `fleet-${next++}`;
      const id = await create(api, cloud, name);
      void joined(id).then((node) => join(api, name, node));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

const { signal } = new AbortController();
void nodes.run(signal);
void deployments.run(signal);
await Promise.all([nodes.synced(signal), deployments.synced(signal)]);
deployments.store.subscribe((old, current) => {
  if (old === undefined && current !== undefined) void createAll(current.spec.replicas ?? 0);
});
console.log("watching");
