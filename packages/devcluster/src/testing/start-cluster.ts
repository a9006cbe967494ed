import { createApiClient } from "@millwright/kube";
import { systemClock } from "@millwright/base";
import { createSimulatedNodes, type SimulatedNodes } from "../simulated-nodes/simulated-nodes.ts";
import { createWorkloads } from "../workloads/workloads.ts";
import { startServer, type TestServer } from "./start-server.ts";

/** A server with nodes and workloads that have short delays and share the cluster faults of the server. */
export interface TestCluster extends TestServer {
  /** Sets the nodes. Each has a label `zone` with its name. */
  join(...names: readonly string[]): void;
  readonly nodes: SimulatedNodes;
  patch(path: string, body: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * Starts a cluster whose nodes never become Unknown, however slow the computer is, unless `silenceMs` sets a shorter time.
 */
export async function startCluster({ silenceMs = 60_000 } = {}): Promise<TestCluster> {
  const server = await startServer();
  const api = createApiClient({ server: server.url });
  const stopping = new AbortController();
  const { clusterFaults } = server.server;
  const common = { api, clock: systemClock, clusterFaults };
  const nodes = createSimulatedNodes({ ...common, joinDelayMs: 0, heartbeatMs: 300, silenceMs });
  const workloads = createWorkloads({ ...common, podStartMs: 20, podStopMs: 100, attachMs: 50, detachMs: 50 });
  const running = Promise.all([nodes.start(stopping.signal), workloads.start(stopping.signal)]);
  return {
    ...server,
    nodes,
    join(...names) {
      nodes.sync(names.map((nodeName) => ({ nodeName, providerId: `sim:///${nodeName}`, labels: { zone: nodeName } })));
    },
    patch: (path, body) => server.call("PATCH", path, body, { "content-type": "application/merge-patch+json" }),
    async stop() {
      stopping.abort();
      await running;
      await api.close();
      await server.server.close();
    },
  };
}
