import type { Clock } from "@millwright/base";
import { createSimulatedNodes, type DesiredNode } from "@millwright/devcluster";
import type { ApiClient } from "@millwright/kube";
import { createCloudControllerManager } from "./cloud-controller-manager.ts";
import type { CloudInstance } from "./cloud-instance.ts";

/** Delays of kubelets and the cloud controller manager, milliseconds. */
export interface NodeTimes {
  /** From an instance running to the registration of its node. Default 50 ms. */
  readonly joinMs?: number;
  /** From the registration of a node to its initialization. Default 1 s. `Infinity`: no cloud controller manager runs. */
  readonly initializeMs?: number;
  /** From the end of an instance to the deletion of its Node, if nothing else deletes it. Default 1 s. */
  readonly removeMs?: number;
  /** Interval between lists of the instances of the cloud. Default 100 ms. */
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
  /** Host name of an instance, which is the name of its node. Default: the name in the cloud. */
  hostname?: ((instance: CloudInstance) => string) | undefined;
  /** Taints that the kubelets register with. Default: only that of an external cloud provider. */
  taints?: DesiredNode["taints"];
}

/**
 * Synchronizes the nodes of a cluster with the instances of the cloud: their kubelets run with `--cloud-provider=external`, and a cloud
 * controller manager manages the nodes. A kubelet whose instance is stopped reports so (graceful node shutdown, KEP-2000).
 * Runs until the signal aborts.
 */
export async function followInstances(options: CloudNodesOptions, signal: AbortSignal): Promise<void> {
  const { api, clock, instances, kubeletProviderId, hostname, taints = [] } = options;
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
        taints,
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
