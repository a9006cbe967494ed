import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock } from "@millwright/core";
import { type ApiServer, createApiServer, createSimulatedNodes, kubeconfigFor } from "@millwright/devcluster";
import { createApiClient } from "@millwright/kube";
import type { Installation, NodeLife } from "./installation.ts";

/** A cluster of its own that the VMs of an installation join. */
export interface TargetCluster {
  readonly server: ApiServer;
  /** The flag of the controllers that selects it. */
  readonly flag: string;
  close(): Promise<void>;
}

/** Starts a target cluster; `through` gives controllers another address of the server, such as that of a proxy. */
export async function startTargetCluster(
  { cloud, kubeconfig }: Installation,
  nodeLife: NodeLife = {},
  through: (url: string) => Promise<string> = (url) => Promise.resolve(url),
): Promise<TargetCluster> {
  const server = createApiServer();
  const { url } = await server.listen();
  const file = join(dirname(kubeconfig), "target.kubeconfig");
  await writeFile(file, kubeconfigFor(await through(url)));
  const api = createApiClient({ server: url }, { userAgent: "fleet" });
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
    flag: `--target-kubeconfig=${file}`,
    async close() {
      unfollow();
      stop.abort(new Error("the test ends"));
      await ended;
      await api.close();
      await server.close();
    },
  };
}
