import type { ApiServerOptions, RequestRecord } from "@millwright/devcluster";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import {
  type Installation,
  machineClass,
  machineDeployment,
  type NodeLife,
  startInstallation,
} from "./installation.ts";
import { type MillwrightProcess, startMillwright } from "./millwright.ts";
import { shortLeases } from "./short-leases.ts";

/** A deployment `fleet` of machines of the class `small`, and `millwright run` to manage it. */
export interface ControlledFleet extends Installation {
  /** Starts the controllers as a process of their own. */
  run(...args: readonly string[]): MillwrightProcess;
  /** Creates the deployment. */
  deploy(replicas: number): Promise<void>;
  scale(replicas: number): Promise<void>;
  /** Waits until that many machines run, each with its one VM. */
  untilRunning(count: number, timeoutMs?: number): Promise<void>;
  /** Waits until no machine and no VM is left. */
  untilGone(timeoutMs?: number): Promise<void>;
  /** Requests of the controllers to the API server. */
  requests(): readonly RequestRecord[];
  callsOf(operation: string): number;
}

const namespace = "default";
const name = "fleet";

/** Distinguishes the controllers from the test and the nodes. */
export const controllersAgent = "millwright";

/** Starts the cluster and the cloud; no controllers yet. */
export async function startControlledFleet(
  cloud: Partial<SimulatedCloudOptions> = {},
  server: Omit<ApiServerOptions, "authorization"> = {},
  nodeLife: NodeLife = {},
): Promise<ControlledFleet> {
  const installation = await startInstallation(cloud, server, nodeLife);
  const { api } = installation;
  await api.create(machineClassResource, machineClass("small"));
  const started: MillwrightProcess[] = [];
  const { machines } = installation;
  return {
    ...installation,
    run(...args) {
      const kubeconfig = args.some((arg) => arg.startsWith("--control-kubeconfig"))
        ? []
        : ["--control-kubeconfig", installation.controllersKubeconfig];
      const process = startMillwright(["run", "--provider=mock", ...kubeconfig, ...shortLeases, ...args]);
      started.push(process);
      return process;
    },
    async deploy(replicas) {
      await eventually(() => api.create(machineDeploymentResource, machineDeployment(name, "small", replicas)));
    },
    async scale(replicas) {
      await eventually(() =>
        api.patch(machineDeploymentResource, { namespace, name }, { spec: { replicas } }, { kind: "merge" }),
      );
    },
    async untilRunning(count, timeoutMs = 90_000) {
      await eventually(async () => {
        const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
        expect(phases).toEqual(Array.from({ length: count }, () => "Running"));
        expect(installation.cloud.vms()).toHaveLength(count);
      }, timeoutMs);
    },
    async untilGone(timeoutMs = 90_000) {
      await eventually(async () => {
        expect(await machines()).toEqual([]);
        expect(installation.cloud.vms()).toEqual([]);
      }, timeoutMs);
    },
    requests: () => installation.server.requests.filter(({ userAgent }) => userAgent.includes(controllersAgent)),
    callsOf: (operation) => installation.cloud.calls.filter((call) => call.operation === operation).length,
    async close() {
      await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
      await installation.close();
    },
  };
}
