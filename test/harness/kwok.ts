import { systemClock } from "@millwright/base";
import { type ApiClient, type KubeObject, isAlreadyExists, nodeResource } from "@millwright/kube";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import type { FleetNodes } from "./installation.ts";
import { type Program, startProgram } from "./program.ts";

const path = await findBuilt("kwok");

/** Whether `npm run control-plane -- build kwok` built kwok here. */
export const hasKwok = path !== undefined;

/** Starts kwok as the kubelet of all Nodes: it reports them as ready, renews their Leases, and runs and ends their pods, with its own stages. */
export const startKwok = (kubeconfig: string): Program =>
  startProgram("kwok", path ?? "", [
    `--kubeconfig=${kubeconfig}`,
    "--manage-all-nodes=true",
    "--node-lease-duration-seconds=40",
  ]);

/** The Node that a kubelet registers when its network is not up yet. */
const registered = (name: string, providerId: string | undefined): KubeObject => ({
  metadata: { name, labels: { "kubernetes.io/hostname": name } },
  ...(providerId === undefined ? {} : { spec: { providerID: providerId } }),
  status: {
    conditions: [
      {
        type: "Ready",
        status: "False",
        reason: "KubeletNotReady",
        message: "container runtime network not ready",
        lastHeartbeatTime: systemClock.now().toISOString(),
        lastTransitionTime: systemClock.now().toISOString(),
      },
    ],
  },
});

/**
 * Registers a Node for each VM, and does nothing else: kwok registers none.
 *
 * @param hasProviderId whether the kubelet of a Node of this name knows its provider id
 */
export function registerNodes(api: ApiClient, hasProviderId: (nodeName: string) => boolean): FleetNodes {
  const seen = new Set<string>();
  let created: Promise<unknown> = Promise.resolve();
  return {
    sync(desired) {
      for (const { nodeName, providerId } of desired.filter(({ nodeName: name }) => !seen.has(name))) {
        seen.add(nodeName);
        const node = registered(nodeName, hasProviderId(nodeName) ? providerId : undefined);
        created = created.then(() =>
          api.create(nodeResource, node).catch((error: unknown) => {
            if (!isAlreadyExists(error)) throw error;
          }),
        );
      }
    },
    async start(signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await created;
    },
  };
}
