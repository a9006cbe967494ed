import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { createMockDriver } from "@millwright/provider-mock";
import { createManager, type Manager, type ManagerOptions } from "@millwright/runtime";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import {
  type Installation,
  machineClass,
  machineDeployment,
  type NodeLife,
  startInstallation,
} from "./installation.ts";

const namespace = "default";

/** A deployment `fleet` of the class `small`, managed within the process of the test, so that times can be shorter than flags allow. */
export interface ManagedFleet extends Installation {
  /** Starts a manager. The returned function stops it. */
  manage(change?: Partial<ManagerOptions>): Promise<{ readonly manager: Manager; readonly stop: () => Promise<void> }>;
  /** Waits until that many machines are Running. */
  untilRunning(count: number): Promise<void>;
}

/** A thousandth of the real times. */
export const fastLists = { periodMs: 900, minIntervalMs: 60, confirmAfterMs: 600 };

/** Starts cluster, cloud and deployment; no manager yet. By default nodes stay Ready after their kubelets have stopped. */
export async function startManagedFleet(
  replicas: number,
  nodeLife: NodeLife = { heartbeatMs: 200, silenceMs: 600_000 },
): Promise<ManagedFleet> {
  const installation = await startInstallation({}, {}, nodeLife);
  const { api } = installation;
  await api.create(machineClassResource, machineClass("small"));
  await api.create(machineDeploymentResource, machineDeployment("fleet", "small", replicas));
  const stops: (() => Promise<void>)[] = [];
  return {
    ...installation,
    async manage(change = {}) {
      const control = createApiClient(await loadKubeConfig({ file: installation.controllersKubeconfig }));
      const manager = createManager({
        control,
        target: control,
        namespace,
        drivers: [createMockDriver()],
        vmLists: fastLists,
        ...change,
      });
      const abort = new AbortController();
      const running = manager.start(abort.signal);
      let isStopped = false;
      const stop = async (): Promise<void> => {
        if (isStopped) return;
        isStopped = true;
        abort.abort(new Error("the test stops the manager"));
        await running;
        await control.close();
      };
      stops.push(stop);
      return { manager, stop };
    },
    untilRunning: (count) =>
      eventually(async () => {
        const phases = (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
        expect(phases).toEqual(Array.from({ length: count }, () => "Running"));
      }, 60_000),
    async close() {
      for (const stop of stops) await stop();
      await installation.close();
    },
  };
}
