import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Timer } from "@millwright/base";
import { crds, type Machine, machineApiVersion, machineResource } from "@millwright/core/machine-api";
import {
  type ApiServer,
  type ApiServerOptions,
  createSimulatedNodes,
  type SimulatedNodes,
  type SimulatedNodesOptions,
} from "@millwright/devcluster";
import { type ApiClient, customResourceDefinitionResource, type KubeObject, secretResource } from "@millwright/kube";
import {
  createCloudServer,
  createSimulatedCloud,
  type SimulatedCloud,
  type SimulatedCloudOptions,
} from "@millwright/provider-mock";
import { eventually } from "./eventually.ts";
import { type MillwrightProcess, startControllers } from "./millwright.ts";
import { type ControllersAccess, startRestrictedServer } from "./restricted-server.ts";

/** A cloud, and a cluster whose nodes follow its VMs, beside which controllers can be killed and started. */
export interface Fleet {
  readonly api: ApiClient;
  readonly cloud: SimulatedCloud;
  machines(): Promise<readonly Machine[]>;
  /** Creates the CRDs and the class secret, also after the server lost its data. */
  declareKinds(): Promise<void>;
  /** Stops the cloud and the nodes; the cluster stays. */
  close(): Promise<void>;
}

/** A fleet on a devcluster API server in the test's process. */
export interface Installation extends Fleet, ControllersAccess {
  readonly url: string;
  /** For fault injection. */
  readonly server: ApiServer;
  /** Path of an administrator's kubeconfig for the cluster: not for controllers, see {@link ControllersAccess}. */
  readonly kubeconfig: string;
  /** Starts controllers without leader election. They are killed with the installation, if not before. */
  runAlone(...flags: readonly string[]): MillwrightProcess;
}

const namespace = "default";
/** How long after a change of a VM its node follows, milliseconds. */
const SYNC_DELAY_MS = 10;

/** A class of the mock driver, and its secret. */
export const machineClass = (name: string): KubeObject => ({
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: { name, namespace },
  provider: "mock",
  providerSpec: { machineType: "small" },
  secretRef: { name: "cloud", namespace },
});

/** A MachineDeployment whose machines use a class. */
export const machineDeployment = (name: string, className: string, replicas: number): KubeObject => ({
  apiVersion: machineApiVersion,
  kind: "MachineDeployment",
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { name } },
    template: { metadata: { labels: { name } }, spec: { class: { kind: "MachineClass", name: className } } },
  },
});

/** Waits until an API server serves a kind: a real one creates a CRD before it serves it. */
async function untilServed(api: ApiClient, name: string): Promise<void> {
  await eventually(async () => {
    const crd = await api.get(customResourceDefinitionResource, { name });
    if (!JSON.stringify(crd["status"] ?? {}).includes('"type":"Established"'))
      throw new Error(`${name} is not established`);
    const kind = crds().find(({ metadata }) => metadata.name === name);
    await api.request({ method: "GET", path: `/apis/machine.sapcloud.io/v1alpha1/${kind?.spec.names.plural ?? ""}` });
  });
}

/** Faults of the nodes of a fleet, and how soon missing heartbeats are detected. */
export type NodeLife = Partial<Pick<SimulatedNodesOptions, "clusterFaults" | "heartbeatMs" | "silenceMs">>;

/** Who plays the nodes of VMs. */
export type FleetNodes = Pick<SimulatedNodes, "sync" | "start">;

/** Nodes in a cluster that join soon after their VMs run. */
export const simulatedNodes = (api: ApiClient, nodeLife: NodeLife = {}): FleetNodes =>
  createSimulatedNodes({ api, clock: systemClock, joinDelayMs: 100, ...nodeLife });

/** Creates the CRDs in a cluster, and starts a cloud whose running VMs become nodes, of this cluster or of another one. No controller runs yet. */
export async function startFleet(
  api: ApiClient,
  options: Partial<SimulatedCloudOptions> = {},
  nodes: FleetNodes = simulatedNodes(api),
): Promise<Fleet> {
  const stop = new AbortController();
  // As in any cloud, a Node joins more than a second after the creation of its VM: its Machine is Pending until then.
  const cloud = createSimulatedCloud({ clock: systemClock, bootDelayMs: 1_300, deleteDelayMs: 200, ...options });
  const cloudServer = createCloudServer(cloud);
  const { url: endpoint } = await cloudServer.listen();
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const secret = {
    metadata: { name: "cloud", namespace },
    data: { endpoint: encode(endpoint), userData: encode("boot <<MACHINE_NAME>>") },
  };
  const declareKinds = async (): Promise<void> => {
    for (const crd of crds()) {
      await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
    }
    for (const { metadata } of crds()) await untilServed(api, metadata.name);
    await api.create(secretResource, secret);
  };
  await declareKinds();

  const nodesEnded = nodes.start(stop.signal);
  let sync: Timer | undefined;
  // Reads all VMs: once for many changes.
  const unfollow = cloud.subscribe(() => {
    sync ??= systemClock.setTimer(SYNC_DELAY_MS, () => {
      sync = undefined;
      nodes.sync(cloud.vms().filter(({ state }) => state === "running" || state === "stopping"));
    });
  });
  return {
    api,
    cloud,
    declareKinds,
    machines: async () => (await api.list<Machine>(machineResource, { namespace })).items,
    async close() {
      unfollow();
      sync?.cancel();
      stop.abort(new Error("the test ends"));
      await nodesEnded;
      await cloudServer.close();
      cloud.close();
    },
  };
}

/** Starts a fleet on an API server of its own; `serverOptions.tokens` are those of more users. */
export async function startInstallation(
  options: Partial<SimulatedCloudOptions> = {},
  serverOptions: Omit<ApiServerOptions, "authorization"> = {},
  nodeLife: NodeLife = {},
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-e2e-"));
  const restricted = await startRestrictedServer({ folder, ...serverOptions });
  const { api, server, controllersKubeconfig } = restricted;
  const nodes = simulatedNodes(api, { clusterFaults: server.clusterFaults, ...nodeLife });
  const fleet = await startFleet(api, options, nodes);
  const started: MillwrightProcess[] = [];
  return {
    ...restricted,
    ...fleet,
    async declareKinds() {
      await restricted.grant();
      await fleet.declareKinds();
    },
    runAlone(...flags) {
      const process = startControllers(controllersKubeconfig, ...flags);
      started.push(process);
      return process;
    },
    async close() {
      await Promise.all(started.map((process) => process.stop("SIGKILL")));
      await fleet.close();
      await rm(folder, { recursive: true, force: true });
      await restricted.close();
    },
  };
}
