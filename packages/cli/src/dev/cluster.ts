import { systemClock, type Clock, ConfigError, isRecord, systemRandom } from "@millwright/base";
import { crds, type Machine, machineResource } from "@millwright/core/machine-api";
import {
  type ApiClient,
  createApiClient,
  createInformer,
  customResourceDefinitionResource,
  type KubeObject,
  noLog,
} from "@millwright/kube";
import { startDashboard } from "../dashboard/open-dashboard.ts";
import { createClosers } from "./closers.ts";
import { applyExample } from "./example.ts";
import { startCloud, type WantedNode } from "./cloud.ts";
import { type MachineNode, nodesOfMachines } from "./driver-nodes.ts";
import { type Workspace, writeKubeconfig } from "./workspace.ts";

/** How long the API server may take to serve a new kind, milliseconds. */
const PATIENCE_MS = 10_000;

const isEstablished = (crd: KubeObject): boolean => {
  const status = crd["status"];
  const conditions: readonly unknown[] =
    isRecord(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
  return conditions.some(
    (condition) => isRecord(condition) && condition["type"] === "Established" && condition["status"] === "True",
  );
};

/** Applies our CustomResourceDefinitions and waits until the API server serves all of them. */
async function installCrds(api: ApiClient, clock: Clock, signal: AbortSignal): Promise<void> {
  const started = clock.monotonicMs();
  for (const crd of crds()) {
    const ref = { name: crd.metadata.name };
    await api.patch(customResourceDefinitionResource, ref, crd, {
      kind: "apply",
      fieldManager: "millwright-dev",
      force: true,
      signal,
    });
    while (!isEstablished(await api.get(customResourceDefinitionResource, ref, { signal }))) {
      if (clock.monotonicMs() - started > PATIENCE_MS)
        throw new ConfigError(`CustomResourceDefinition ${ref.name} was not established within 10 s`);
      await clock.sleep(50, signal);
    }
  }
}

/** Everything that `millwright dev` runs. */
export interface Cluster {
  readonly url: string;
  /** Of the page that shows the machines. */
  readonly dashboardUrl: string;
  readonly api: ApiClient;
  /** Aborts, with the error as its reason, when a part ends unexpectedly. */
  readonly failed: AbortSignal;
  /** Stops everything, controllers first, so that nothing runs on a cluster that is partly stopped. */
  close(): Promise<void>;
}

/** What to start. */
export interface ClusterOptions {
  readonly workspace: Workspace;
  /** Port of the API server; 0 takes a free one. */
  readonly port: number;
  /** Port of the dashboard; 0 takes a free one. */
  readonly dashboardPort: number;
  readonly withExample: boolean;
  /** Drivers besides that of the simulated cloud, as for `--provider`. The nodes of their machines are simulated. */
  readonly providers: readonly string[];
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

const NAMESPACE = "default";

/** From a booted VM to its ready node, milliseconds: long enough to be seen, short enough to wait for. */
const JOIN_DELAY_MS = 1_000;

/** Starts an API server, a simulated cloud with nodes that follow it, the controllers, and applies the example. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { workspace, port, withExample, providers, signal } = options;
  const closers = createClosers();
  const failed = new AbortController();
  const fail = (error: unknown): void => failed.abort(error);
  /** Runs a part until it is closed; its failure stops everything. */
  const keepRunning = (run: (signal: AbortSignal) => Promise<unknown>): void => {
    const stop = new AbortController();
    const ended = run(stop.signal).catch(fail);
    closers.add(async () => {
      stop.abort(new Error("millwright dev stops"));
      await ended;
    });
  };

  try {
    const [
      { createApiServer, createSimulatedNodes, createWorkloads, kubeconfigFor, openFileStorage },
      { createFileLog, createManager, loadDriver },
    ] = await Promise.all([import("@millwright/devcluster"), import("@millwright/runtime")]);
    // First: a wrong path needs no cluster to fail.
    const drivers = await Promise.all(["mock", ...providers].map((name) => loadDriver(name)));
    const log = workspace.isTemporary ? undefined : createFileLog(`${workspace.folder}/controllers.log`, "info");
    if (log !== undefined) closers.add(log.close);

    const server = createApiServer(
      workspace.isTemporary ? {} : { storage: openFileStorage(`${workspace.folder}/cluster`, { onFailure: fail }) },
    );
    closers.add(server.close);
    const { url } = await server.listen({ port });
    const api = createApiClient({ server: url }, { userAgent: "millwright", fieldManager: "millwright" });
    closers.add(api.close);
    await writeKubeconfig(workspace.kubeconfig, kubeconfigFor(url));
    await installCrds(api, systemClock, AbortSignal.any([signal, failed.signal]));

    const cloud = await startCloud(workspace, fail);
    closers.add(cloud.close);
    const { clusterFaults } = server;
    const nodes = createSimulatedNodes({ api, clock: systemClock, joinDelayMs: JOIN_DELAY_MS, clusterFaults });
    keepRunning((stop) => nodes.start(stop));
    const workloads = createWorkloads({ api, clock: systemClock, clusterFaults });
    keepRunning((stop) => workloads.start(stop));
    let ofCloud: readonly WantedNode[] = [];
    let ofMachines: readonly MachineNode[] = [];
    closers.add(
      cloud.follow((vms) => {
        ofCloud = vms;
        nodes.sync([...ofCloud, ...ofMachines]);
      }),
    );
    if (providers.length > 0) {
      const clocks = { clock: systemClock, random: systemRandom };
      const machines = createInformer<Machine>({ api, namespace: NAMESPACE, type: machineResource, ...clocks });
      closers.add(
        machines.store.subscribe(() => {
          ofMachines = nodesOfMachines(machines.store.list());
          nodes.sync([...ofCloud, ...ofMachines]);
        }),
      );
      keepRunning((stop) => machines.run(stop));
    }

    const manager = createManager({
      control: api,
      target: api,
      namespace: NAMESPACE,
      drivers,
      ...(log === undefined ? {} : { log: log.log }),
    });
    keepRunning((stop) => manager.start(stop));
    const dashboard = await startDashboard(
      { address: "127.0.0.1", port: options.dashboardPort },
      { fleets: manager.fleets(), reviewClient: api },
      log?.log ?? noLog,
    );
    closers.add(dashboard.close);
    if (withExample) await applyExample(api, cloud.url);
    return { url, dashboardUrl: dashboard.url, api, failed: failed.signal, close: closers.closeAll };
  } catch (error) {
    await closers.closeAll();
    // What failed first is the reason why the start failed.
    throw failed.signal.aborted ? failed.signal.reason : error;
  }
}
