import { type Clock, systemRandom } from "@millwright/base";
import { uninitializedTaint } from "@millwright/devcluster";
import {
  type ApiClient,
  createInformer,
  isConflict,
  isNotFound,
  isTransient,
  type KubeObject,
  nodeResource,
} from "@millwright/kube";
import type { CloudInstance } from "./cloud-instance.ts";

/** Options of {@link createCloudControllerManager}. */
export interface CloudControllerManagerOptions {
  readonly api: ApiClient;
  readonly clock: Clock;
  /** From the registration of a node to its initialization, milliseconds. `Infinity`: it is never initialized. */
  readonly initializeMs: number;
  /** From the end of an instance to the deletion of its Node, milliseconds. */
  readonly removeMs: number;
}

/** The node controllers of a cloud controller manager. */
export interface CloudControllerManager {
  /** Sets the current instances of the cloud. */
  sync(instances: readonly CloudInstance[]): void;
  /** Runs until the signal aborts. Calls that fail with a transient error are retried. */
  start(signal: AbortSignal): Promise<void>;
}

interface Taint {
  readonly key: string;
}

interface CloudNode extends KubeObject {
  readonly spec?: { readonly providerID?: string; readonly taints?: readonly Taint[] };
}

const tickMs = 100;

/**
 * Creates what the controllers of kubernetes/cloud-provider do for nodes: `syncNode` in controllers/node/node_controller.go initializes a
 * node that has the taint, in one write of provider id, labels and taints and one of addresses; `MonitorNodes` in
 * controllers/nodelifecycle/node_lifecycle_controller.go deletes the Node of an instance that no longer exists. The real one looks every
 * 5 s, and only at nodes that are not ready: here `removeMs` stands for both.
 */
export function createCloudControllerManager(options: CloudControllerManagerOptions): CloudControllerManager {
  const { api, clock, initializeMs, removeMs } = options;
  /** Existing and ended instances, by the names of their nodes. */
  const known = new Map<string, { readonly instance: CloudInstance; readonly endedAtMs?: number }>();
  /** When uninitialized nodes were first observed, by UID. */
  const seenAtMs = new Map<string, number>();

  const initialize = async (node: CloudNode, instance: CloudInstance, signal: AbortSignal): Promise<void> => {
    const { name = "", resourceVersion = "" } = node.metadata;
    const labels = {
      "node.kubernetes.io/instance-type": instance.instanceType,
      "topology.kubernetes.io/zone": instance.zone,
      "topology.kubernetes.io/region": instance.region,
    };
    const taints = node.spec?.taints?.filter(({ key }) => key !== uninitializedTaint.key) ?? [];
    // The provider ID of a Node is written once.
    const providerID = node.spec?.providerID ?? instance.providerId;
    const patch = { metadata: { labels, resourceVersion }, spec: { providerID, taints } };
    await api.patch(nodeResource, { name }, patch, { kind: "merge", signal });
    const status = { addresses: instance.addresses };
    await api.patch(nodeResource, { name }, { status }, { kind: "merge", subresource: "status", signal });
  };

  const reconcile = async (node: CloudNode, signal: AbortSignal): Promise<void> => {
    const { name = "", uid = "" } = node.metadata;
    const { instance, endedAtMs } = known.get(name) ?? {};
    if (instance === undefined || (node.spec?.providerID ?? instance.providerId) !== instance.providerId) return;
    const nowMs = clock.monotonicMs();
    if (endedAtMs !== undefined) {
      if (nowMs - endedAtMs >= removeMs) await api.delete(nodeResource, { name }, { uid, signal });
      return;
    }
    if (node.spec?.taints?.some(({ key }) => key === uninitializedTaint.key) !== true) return;
    const seen = seenAtMs.get(uid) ?? nowMs;
    seenAtMs.set(uid, seen);
    if (nowMs - seen >= initializeMs) await initialize(node, instance, signal);
  };

  return {
    sync(instances) {
      const present = new Map(instances.map((instance) => [instance.nodeName, { instance }]));
      for (const [name, { instance, endedAtMs = clock.monotonicMs() }] of known) {
        if (!present.has(name)) known.set(name, { instance, endedAtMs });
      }
      for (const [name, entry] of present) known.set(name, entry);
    },
    async start(signal) {
      const nodes = createInformer<CloudNode>({ api, type: nodeResource, clock, random: systemRandom });
      const watching = nodes.run(signal);
      while (!signal.aborted) {
        await Promise.all(
          nodes.store.list().map((node) =>
            reconcile(node, signal).catch((error: unknown) => {
              if (!signal.aborted && !isConflict(error) && !isNotFound(error) && !isTransient(error)) throw error;
            }),
          ),
        );
        await clock.sleep(tickMs, signal).catch(() => undefined);
      }
      await watching.catch(() => undefined);
    },
  };
}
