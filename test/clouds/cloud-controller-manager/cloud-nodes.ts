import type { Clock } from "@millwright/core";
import { createSimulatedNodes } from "@millwright/devcluster";
import type { ApiClient } from "@millwright/kube";
import { createCloudControllerManager } from "./cloud-controller-manager.ts";
import type { CloudInstance } from "./cloud-instance.ts";

/** How kubelets and the cloud controller manager of a cloud take their time, milliseconds. */
export interface NodeTimes {
  /** From an instance running to the registration of its node. Default 50 ms. */
  readonly joinMs?: number;
  /** From the registration of a node to its initialization. Default 1 s. `Infinity`: the cloud controller manager never comes. */
  readonly initializeMs?: number;
  /** From the end of an instance to the deletion of its Node, if nothing else deletes it. Default 1 s. */
  readonly removeMs?: number;
  /** Between two looks at the instances of the cloud. Default 100 ms. */
  readonly lookMs?: number;
}

/** Options of {@link followInstances}. */
export interface CloudNodesOptions extends NodeTimes {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** The instances that exist now and have ever run. */
  instances(): readonly CloudInstance[] | Promise<readonly CloudInstance[]>;
  /**
   * Id with which the kubelet of an instance registers (`--provider-id`), for a cluster without cloud controller manager. Absent: kubelets
   * register without id, and a cloud controller manager initializes their nodes.
   */
  kubeletProviderId?: ((instance: CloudInstance) => string) | undefined;
  /** Host name of an instance, after which its kubelet names the node. Default: as the cloud names it. */
  hostname?: ((instance: CloudInstance) => string) | undefined;
}

/**
 * Keeps the nodes of a cluster as the cloud has its instances: their kubelets run with `--cloud-provider=external`, and a cloud
 * controller manager looks after the nodes. A kubelet whose instance is stopped reports so (graceful node shutdown, KEP-2000).
 * Runs until the signal aborts.
 */
export async function followInstances(options: CloudNodesOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, instances, kubeletProviderId, hostname } = options;
  const { joinMs = 50, initializeMs = 1_000, removeMs = 1_000, lookMs = 100 } = options;
  const kubelets = createSimulatedNodes({
    api,
    clock,
    joinDelayMs: joinMs,
    removeWithVm: kubeletProviderId !== undefined,
    removeAfterMs: removeMs,
  });
  const manager = createCloudControllerManager({ api, clock, initializeMs, removeMs });
  let stopped: ReadonlySet<string> = new Set();
  const follow = (current: readonly CloudInstance[]): void => {
    kubelets.sync(
      current.map((instance) => ({
        nodeName: instance.nodeName,
        systemUuid: instance.systemUuid,
        ...(kubeletProviderId === undefined ? {} : { providerId: kubeletProviderId(instance) }),
      })),
    );
    const before = stopped;
    stopped = new Set(current.flatMap(({ nodeName, isRunning }) => (isRunning ? [] : [nodeName])));
    for (const name of stopped) if (!before.has(name)) kubelets.setReady(name, false);
    for (const name of before) if (!stopped.has(name)) kubelets.setReady(name, true);
    manager.sync(current);
  };
  const followAll = async (): Promise<void> => {
    while (!signal.aborted) {
      const current = await instances();
      follow(hostname === undefined ? current : current.map((each) => ({ ...each, nodeName: hostname(each) })));
      await clock.sleep(lookMs, signal).catch(() => undefined);
    }
  };
  await Promise.all([
    kubelets.start(signal),
    followAll(),
    ...(kubeletProviderId === undefined ? [manager.start(signal)] : []),
  ]);
}
