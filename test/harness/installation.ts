import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crds, machineApiVersion, systemClock } from "@millwright/core";
import { type ApiServer, createApiServer, createSimulatedNodes, kubeconfigFor } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  type KubeObject,
  secretResource,
} from "@millwright/kube";
import {
  createCloudServer,
  createSimulatedCloud,
  type SimulatedCloud,
  type SimulatedCloudOptions,
} from "@millwright/provider-mock";

/** A cluster and a cloud that live in the test's process, so that the controllers can be killed and started beside them. */
export interface Installation {
  readonly api: ApiClient;
  readonly url: string;
  /** To make it fail on demand. */
  readonly server: ApiServer;
  readonly cloud: SimulatedCloud;
  /** Declares our kinds and the class secret, again after the server has lost them. */
  declareKinds(): Promise<void>;
  /** Path of a kubeconfig for the cluster. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

const namespace = "default";

/** A class of the mock driver, and the secret that goes with it. */
export const machineClass = (name: string): KubeObject => ({
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: { name, namespace },
  provider: "mock",
  providerSpec: { machineType: "small" },
  secretRef: { name: "cloud", namespace },
});

/** A deployment whose machines are of a class. */
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

/** Starts a cluster with our kinds, and a cloud whose running VMs become nodes. Nothing looks after machines yet. */
export async function startInstallation(options: Partial<SimulatedCloudOptions> = {}): Promise<Installation> {
  const stop = new AbortController();
  const folder = await mkdtemp(join(tmpdir(), "millwright-e2e-"));
  const server = createApiServer();
  const { url } = await server.listen();
  const api = createApiClient({ server: url });
  const cloud = createSimulatedCloud({ clock: systemClock, bootDelayMs: 300, deleteDelayMs: 200, ...options });
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
    await api.create(secretResource, secret);
  };
  await declareKinds();

  const nodes = createSimulatedNodes({ api, clock: systemClock, joinDelayMs: 100 });
  const nodesEnded = nodes.start(stop.signal);
  const unfollow = cloud.subscribe(() =>
    nodes.sync(cloud.vms().filter(({ state }) => state === "running" || state === "stopping")),
  );
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(url));
  return {
    api,
    url,
    server,
    declareKinds,
    cloud,
    kubeconfig,
    async close() {
      unfollow();
      stop.abort(new Error("the test ends"));
      await nodesEnded;
      await cloudServer.close();
      cloud.close();
      await api.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
