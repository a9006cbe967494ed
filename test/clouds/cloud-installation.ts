import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import {
  crds,
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import type { ApiServer } from "@millwright/devcluster";
import {
  type ApiClient,
  customResourceDefinitionResource,
  type KubeObject,
  nodeResource,
  secretResource,
} from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { startRestrictedServer } from "../harness/restricted-server.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { type CloudNodesOptions, followInstances, type NodeTimes } from "./cloud-controller-manager/cloud-nodes.ts";

/** A cloud with an emulator, and the driver for it. */
export interface CloudUnderTest {
  /** The provider in classes. */
  readonly provider: string;
  /** The file of a driver that runs in the process of the controllers, or the address of one. Default: the provider in classes. */
  readonly driver?: string;
  readonly providerSpec: Readonly<Record<string, unknown>>;
  /** Keys of the class secret. */
  readonly secret: Readonly<Record<string, string>>;
  /** Environment variables that direct the driver's SDK to the emulator. */
  readonly env: NodeJS.ProcessEnv;
  /** The instances that exist now and have ever run: they become nodes of the cluster. */
  instances(): readonly CloudInstance[] | Promise<readonly CloudInstance[]>;
  /** How their nodes join. Default: a cloud controller manager initializes them after a second. */
  readonly nodes?: NodeOptions;
}

/** How instances become nodes. */
export type NodeOptions = Pick<CloudNodesOptions, keyof NodeTimes | "kubeletProviderId" | "hostname">;

/** A cluster whose nodes follow an emulated cloud, with a class `pool`; `run` starts its controllers. */
export interface CloudInstallation {
  readonly api: ApiClient;
  /** Of the API server. */
  readonly url: string;
  /** For its request log. */
  readonly server: ApiServer;
  run(...flags: readonly string[]): MillwrightProcess;
  /** Runs another command to its end, with `--kubeconfig`. */
  command(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  deploy(replicas: number): Promise<void>;
  /** Changes the deployment. */
  change(spec: Readonly<Record<string, unknown>>): Promise<void>;
  remove(): Promise<void>;
  /** Creates another class besides `pool`. */
  declareClass(name: string, providerSpec: Readonly<Record<string, unknown>>): Promise<void>;
  /** Changes the `providerSpec` of the class `pool`; `null` removes a field. */
  changeClass(providerSpec: Readonly<Record<string, unknown>>): Promise<void>;
  setSecret(secret: Readonly<Record<string, string>>): Promise<void>;
  machines(): Promise<readonly Machine[]>;
  nodes(): Promise<readonly CloudNode[]>;
  untilRunning(count: number, timeoutMs?: number): Promise<void>;
  untilGone(timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** The fields of a Node that tests of clouds read. */
export interface CloudNode extends KubeObject {
  readonly spec?: { readonly providerID?: string; readonly taints?: readonly { readonly key: string }[] };
}

/** Where the objects of an installation are, and the name of its deployment. */
export const namespace = "default";
export const name = "fleet";

/** Only catches hangs: processes that load the SDK of a cloud are slow on a busy computer. */
export const patienceMs = 240_000;

const encoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

/** Starts the cluster; no controllers yet. */
export async function startCloudInstallation(cloud: CloudUnderTest): Promise<CloudInstallation> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-clouds-"));
  const restricted = await startRestrictedServer({ folder });
  const { api, url, server, kubeconfig, controllersKubeconfig } = restricted;
  for (const crd of crds()) {
    await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
  }
  const declareClass = async (name: string, providerSpec: Readonly<Record<string, unknown>>): Promise<void> => {
    await api.create(machineClassResource, {
      apiVersion: machineApiVersion,
      kind: "MachineClass",
      metadata: { name, namespace },
      provider: cloud.provider,
      providerSpec,
      secretRef: { name: "cloud", namespace },
    });
  };
  await api.create(secretResource, { metadata: { name: "cloud", namespace }, data: encoded(cloud.secret) });
  await declareClass("pool", cloud.providerSpec);

  const stop = new AbortController();
  const instances = () => cloud.instances();
  const ended = followInstances({ api, clock: systemClock, instances, ...cloud.nodes }, stop.signal);
  const started: MillwrightProcess[] = [];
  const machines = async (): Promise<readonly Machine[]> =>
    (await api.list<Machine>(machineResource, { namespace })).items;

  return {
    api,
    url,
    server,
    declareClass,
    machines,
    nodes: async () => (await api.list<CloudNode>(nodeResource)).items,
    run(...flags) {
      const args = [
        "run",
        `${cloud.driver?.startsWith("/") === true ? "--provider-in-process" : "--provider"}=${cloud.driver ?? cloud.provider}`,
        "--no-leader-elect",
        `--control-kubeconfig=${controllersKubeconfig}`,
        ...flags,
      ];
      const process = startMillwright(args, cloud.env);
      started.push(process);
      return process;
    },
    async command(...args) {
      const process = startMillwright([...args, `--kubeconfig=${kubeconfig}`], cloud.env);
      started.push(process);
      return { code: await process.ended, output: process.output() };
    },
    async deploy(replicas) {
      await api.create(machineDeploymentResource, machineDeployment(name, "pool", replicas));
    },
    async change(spec) {
      await api.patch(machineDeploymentResource, { namespace, name }, { spec }, { kind: "merge" });
    },
    async remove() {
      await api.delete(machineDeploymentResource, { namespace, name });
    },
    async changeClass(providerSpec) {
      await api.patch(machineClassResource, { namespace, name: "pool" }, { providerSpec }, { kind: "merge" });
    },
    async setSecret(secret) {
      await api.patch(secretResource, { namespace, name: "cloud" }, { data: encoded(secret) }, { kind: "merge" });
    },
    async untilRunning(count, timeoutMs = patienceMs) {
      await eventually(async () => {
        const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
        expect(phases).toEqual(Array.from({ length: count }, () => "Running"));
      }, timeoutMs);
    },
    async untilGone(timeoutMs = patienceMs) {
      await eventually(async () => expect(await machines()).toEqual([]), timeoutMs);
    },
    async close() {
      await Promise.all(started.map((process) => process.stop("SIGKILL")));
      stop.abort(new Error("the test ends"));
      await ended;
      await rm(folder, { recursive: true, force: true });
      await restricted.close();
    },
  };
}
