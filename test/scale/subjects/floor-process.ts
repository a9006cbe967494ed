/**
 * Creates the machines of a MachineDeployment with the least requests: each machine is created, gets the provider ID of its VM, and is Running when its Node has
 * joined, which gets its name. No status before that, no set, no events, no check of anything: a crash loses VMs. When the deployment has no replicas, it
 * deletes them all: each is marked for deletion, its Node cordoned, the VM and the Node deleted, and the finalizer taken off. No drain.
 *
 * With `same-requests` as second argument it deletes with the requests of Millwright, of Machines as large as Millwright's: what is left then is what its
 * decisions, caches and events cost. Started by floor.ts.
 */
import { systemClock, systemRandom } from "@millwright/base";
import {
  finalizers,
  labelKeys,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import {
  type ApiClient,
  apiTime,
  createApiClient,
  createInformer,
  type KubeObject,
  loadKubeConfig,
  nodeResource,
  podResource,
  secretResource,
} from "@millwright/kube";
import { createCloudClient, type MockCloud, type Vm } from "@millwright/provider-mock";
import { floorAgent } from "./floor-agent.ts";

type Node = KubeObject & { readonly spec?: { readonly providerID?: string } };

const [, , kubeconfig = "", requests] = process.argv;
const isSame = requests === "same-requests";
const namespace = "default";
/** As many as a Machine has, of its own and of its Node. */
const CONDITIONS = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
/** Machines that are being created, or deleted, at once. */
const CONCURRENCY = 50;

async function connect(api: ApiClient): Promise<MockCloud> {
  const secret = await api.get<KubeObject & { data?: Record<string, string> }>(secretResource, {
    namespace,
    name: "cloud",
  });
  return createCloudClient({ endpoint: Buffer.from(secret.data?.["endpoint"] ?? "", "base64").toString() });
}

const condition = (type: string, message: string) => {
  const time = apiTime(new Date());
  return { type, status: "True", reason: "AsDesired", message, lastHeartbeatTime: time, lastTransitionTime: time };
};

/** A machine that was created. */
interface Created {
  readonly name: string;
  readonly vm: Vm;
}

async function create(api: ApiClient, cloud: MockCloud, name: string): Promise<Created> {
  const ref = { namespace, name };
  const spec = { class: { kind: "MachineClass", name: "small" } };
  const annotations = isSame ? { note: "x".repeat(300) } : {};
  const machine = await api.create<Machine>(machineResource, {
    metadata: { ...ref, labels: { name: "fleet" }, annotations, finalizers: [finalizers.machine] },
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
  return { name, vm };
}

async function join(api: ApiClient, name: string, node: string): Promise<void> {
  const held = isSame ? { finalizers: [finalizers.node] } : {};
  await api.patch(
    nodeResource,
    { name: node },
    { metadata: { labels: { [labelKeys.machineName]: name }, ...held } },
    { kind: "merge" },
  );
  const lastUpdateTime = apiTime(new Date());
  const conditions = (isSame ? CONDITIONS : []).map((type) => condition(type, "The machine is as it should be"));
  const status = { currentStatus: { phase: "Running", lastUpdateTime }, conditions };
  await api.patch(machineResource, { namespace, name }, { status }, { kind: "merge", subresource: "status" });
}

async function remove(api: ApiClient, cloud: MockCloud, { name, vm }: Created, node: string): Promise<void> {
  const ref = { namespace, name };
  await api.delete(machineResource, ref);
  await api.patch(nodeResource, { name: node }, { spec: { unschedulable: true } }, { kind: "merge" });
  if (isSame) {
    await api.list(podResource, { fieldSelector: `spec.nodeName=${node}` });
    const metadata = { "$deleteFromPrimitiveList/finalizers": [finalizers.node] };
    const status = { conditions: [condition("Terminating", `Machine ${name} is being deleted`)] };
    await api.patch(nodeResource, { name: node }, { metadata, status }, { kind: "strategic", subresource: "status" });
  }
  await cloud.deleteVm(vm.providerId);
  await api.delete(nodeResource, { name: node });
  await api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
}

const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { userAgent: floorAgent });
const options = { api, clock: systemClock, random: systemRandom };
const nodes = createInformer<Node>({ ...options, type: nodeResource });
const deployments = createInformer<MachineDeployment>({ ...options, type: machineDeploymentResource });
const waiting = new Map<string, (node: string) => void>();
/** Names of the Nodes by provider ID. */
const present = new Map<string, string>();
const fleet: Created[] = [];
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

/** Calls `work` for 0, 1, 2 and so on, {@link CONCURRENCY} at once. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function createAll(replicas: number): Promise<void> {
  const cloud = await connect(api);
  await forEach(replicas, async (index) => {
    const created = await create(api, cloud, `fleet-${index}`);
    fleet.push(created);
    void joined(created.vm.providerId).then((node) => join(api, created.name, node));
  });
}

async function removeAll(): Promise<void> {
  const cloud = await connect(api);
  const all = fleet.splice(0);
  await forEach(all.length, async (index) => {
    const created = all[index];
    if (created !== undefined) await remove(api, cloud, created, await joined(created.vm.providerId));
  });
}

const { signal } = new AbortController();
void nodes.run(signal);
void deployments.run(signal);
await Promise.all([nodes.synced(signal), deployments.synced(signal)]);
deployments.store.subscribe((old, current) => {
  if (current === undefined) return;
  const { replicas = 0 } = current.spec;
  if (old === undefined) void createAll(replicas);
  else if (replicas === 0) void removeAll();
});
console.log("watching");
