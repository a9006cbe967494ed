import { dirname } from "node:path";
import { systemClock } from "@millwright/base";
import { type ApiServer, createSimulatedNodes } from "@millwright/devcluster";
import { withdrawTarget } from "./grant-roles.ts";
import type { Installation, NodeLife } from "./installation.ts";
import { startRestrictedServer } from "./restricted-server.ts";

/** A cluster of its own that the VMs of an installation join. */
export interface TargetCluster {
  readonly server: ApiServer;
  /** The flag of the controllers that selects it. */
  readonly flag: string;
  close(): Promise<void>;
}

/** Starts a target cluster, so that controllers have the permissions of each cluster only there; `through` gives controllers another address of the server, such as that of a proxy. */
export async function startTargetCluster(
  { api: control, cloud, kubeconfig }: Installation,
  nodeLife: NodeLife = {},
  through?: (url: string) => Promise<string>,
): Promise<TargetCluster> {
  const target = await startRestrictedServer({
    folder: dirname(kubeconfig),
    prefix: "target.",
    clusters: ["target"],
    ...(through === undefined ? {} : { through }),
  });
  const { server, api, controllersKubeconfig } = target;
  await withdrawTarget(control, "default");
  const stop = new AbortController();
  const { clusterFaults } = server;
  const nodes = createSimulatedNodes({
    api,
    clock: systemClock,
    joinDelayMs: 100,
    heartbeatMs: 1_000,
    clusterFaults,
    ...nodeLife,
  });
  const ended = nodes.start(stop.signal);
  const unfollow = cloud.subscribe(() =>
    nodes.sync(cloud.vms().filter(({ state }) => state === "running" || state === "stopping")),
  );
  return {
    server,
    flag: `--target-kubeconfig=${controllersKubeconfig}`,
    async close() {
      unfollow();
      stop.abort(new Error("the test ends"));
      await ended;
      await target.close();
    },
  };
}
