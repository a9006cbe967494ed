import {
  crds,
  machineApiVersion,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
} from "@millwright/core/machine-api";
import { type ApiServer, createApiServer } from "@millwright/devcluster";
import {
  type ApiClient,
  createApiClient,
  customResourceDefinitionResource,
  type KubeObject,
  namespaceResource,
  secretResource,
} from "@millwright/kube";
import { createSimulatedCloud, type SimulatedCloud } from "@millwright/provider-mock";
import { type CloudCall, type CloudWire, createCloudWire } from "../network/cloud-wire.ts";
import { createNetworkFaults, type NetworkFaults } from "../network/fates.ts";
import { withPatientWatches } from "../network/patient-client.ts";
import { createNetwork, type ServedRequest } from "../network/network.ts";
import { type Alteration, type ControllerProcess, createControllerProcess, namespace } from "./controller-process.ts";
import { declareApplications, startApplications } from "./applications.ts";
import { createKubelets, type Kubelets } from "./kubelets.ts";
import { createScheduler, type Scheduler, type Scope } from "./scheduler.ts";
import { createChoices, streamOf } from "./streams.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

/** How large a world is, and what its controllers are. */
export interface WorldOptions {
  readonly seed: number;
  readonly replicas: number;
  readonly processes: number;
  /** Whether Pods run on the Nodes, with budgets and volumes. */
  readonly hasPods: boolean;
  /** Whether kubelets report all conditions that real ones have; each is more to write. */
  readonly reportsPressure?: boolean;
  /** Whether a second deployment has the same class, and a namespace with controllers of its own the same cloud. Default false. */
  readonly hasNeighbours?: boolean;
  /** A mistake of the controllers. */
  readonly alteration?: (() => Alteration) | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

/** A request of a controller process, with when it was served. */
export interface TimedRequest extends ServedRequest {
  readonly atMs: number;
}

/** A backup, and when it was taken. */
export interface WorldBackup {
  readonly atMs: number;
  readonly content: ReturnType<ApiServer["backup"]>;
}

/** What happens, for who watches. */
export interface WorldListener {
  onRequest?(request: TimedRequest): void;
  /** Right before the cloud carries it out. */
  onCloudCall?(call: CloudCall): void;
}

/** Everything that there is. */
export interface World {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly transcript: Transcript;
  readonly server: ApiServer;
  readonly cloud: SimulatedCloud;
  readonly cloudWire: CloudWire;
  readonly networkFaults: NetworkFaults;
  readonly kubelets: Kubelets;
  readonly processes: readonly ControllerProcess[];
  /** People, whose requests nothing disturbs. */
  readonly people: ApiClient;
  /** UIDs of the machines that people removed without their VMs. */
  readonly released: Set<string>;
  /** UIDs of the machines, sets and deployments whose deletion people requested, and `namespace/NAME`. */
  readonly requested: Set<string>;
  /** UIDs of the machines whose objects were lost: others are created for them, and then they come back. */
  readonly lost: Set<string>;
  /** UIDs of the machines that were lost with most of their set: their VMs wait for a person. */
  readonly awaiting: Set<string>;
  /** How many deletions people approved in all, and in each generation of a deployment by `UID/GENERATION`, and until when they approved everything. */
  readonly approvals: { count: number; readonly ofGeneration: Map<string, number>; untilMs: number };
  /** Timers of the faults. */
  readonly outside: Scope;
  listen(listener: WorldListener): void;
  /** Backups of the API server, one every ten minutes; the last six. */
  backups(): readonly WorldBackup[];
  /** Restores the API server from a backup. Resolves when it is back. */
  restore(backup: WorldBackup, options: { readonly downMs: number; readonly addedRevisions: number }): Promise<void>;
  /** How often the API server was restored. */
  restores(): number;
  /** Nothing happens any more. */
  close(): Promise<void>;
  /** A process beside the others that takes no part in the election. */
  startRogue(): ControllerProcess;
}

/** The secret part of the user data: it must appear nowhere but in its Secret and in the cloud. */
export const canary = "canary-5f1b9c";

/** The name of a VM that is not ours. */
export const foreignVm = "foreign";

/** The deployment of all simulations. */
export const poolName = "pool";

/** The namespace of neighbours, which one more process manages. Its deployment has the same name. */
export const otherNamespace = "other";

/** Names of the processes of the controllers begin with this. */
const processNames = ["a", "b"] as const;
/** Names of the processes of the other namespace begin with this. */
export const otherProcessName = "c";

/** Half as often as kube-apiserver, and soon enough for the clients, which wait for something for a little longer. */
const bookmarkEveryMs = 120_000;

const backupEveryMs = 600_000;
const keptBackups = 6;

const encode = (text: string): string => Buffer.from(text).toString("base64");

/** A class of the simulated cloud. */
export const classNamed = (name: string, image: string, inNamespace: string = namespace): KubeObject => ({
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: { name, namespace: inNamespace },
  provider: "mock",
  providerSpec: { machineType: "small", image },
  secretRef: { name: "cloud", namespace: inNamespace },
});

/** A deployment, with one more machine during a rollout, and one fewer available. */
const deploymentOf = (name: string, namespace: string, replicas: number): MachineDeployment => ({
  apiVersion: machineApiVersion,
  kind: "MachineDeployment",
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { name } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    template: {
      metadata: { labels: { name } },
      spec: { class: { kind: "MachineClass", name: "small" } },
    },
  },
});

async function declarePool(people: ApiClient, inNamespace: string, replicas: number): Promise<void> {
  const metadata = { name: "cloud", namespace: inNamespace };
  await people.create(secretResource, { metadata, data: { userData: encode(`boot <<MACHINE_NAME>> ${canary}`) } });
  await people.create(machineClassResource, classNamed("small", "image-1", inNamespace));
  await people.create(machineDeploymentResource, deploymentOf(poolName, inNamespace, replicas));
}

async function declare(people: ApiClient, { replicas, hasPods, hasNeighbours }: WorldOptions): Promise<void> {
  await declarePool(people, namespace, replicas);
  if (hasNeighbours === true) {
    await people.create(namespaceResource, { metadata: { name: otherNamespace } });
    await people.create(machineDeploymentResource, deploymentOf("spare", namespace, 2));
    await declarePool(people, otherNamespace, 2);
  }
  if (hasPods) await declareApplications(people, namespace);
}

/** Takes backups of the API server, and restores them. */
function keepBackups(server: ApiServer, { clock }: Scope, onRestored: () => void) {
  const backups: WorldBackup[] = [];
  let restores = 0;
  const take = (): void => {
    backups.push({ atMs: clock.monotonicMs(), content: server.backup() });
    if (backups.length > keptBackups) backups.shift();
    clock.setTimer(backupEveryMs, take);
  };
  const restore: World["restore"] = async ({ content, atMs }, { downMs, addedRevisions }) => {
    restores++;
    // What was taken after it is of a history that never was.
    backups.splice(backups.findIndex((backup) => backup.atMs === atMs) + 1);
    await server.restart({ restore: content, downMs, addedRevisions });
    onRestored();
  };
  return { start: take, backups: (): readonly WorldBackup[] => backups, restore, restores: () => restores };
}

/** Writes what crosses the wires into the transcript, and passes it on to the listeners. */
function recordCalls(transcript: Transcript, nowMs: () => number) {
  const listeners: WorldListener[] = [];
  return {
    listen: (listener: WorldListener): void => void listeners.push(listener),
    onServed(request: ServedRequest): void {
      const { sender, method, path, status } = request;
      const isOfController = /^(?:[abc]|rogue)\d/.test(sender);
      const isNote = method !== "GET" && isOfController && !/\/(?:leases|events)\b/.test(path);
      transcript.add(isNote ? "note" : "detail", sender, `${method} ${path} ${status}`);
      if (!isOfController) return;
      for (const listener of listeners) listener.onRequest?.({ ...request, atMs: nowMs() });
    },
    onCall(call: CloudCall): void {
      const isNote = call.operation === "createVm" || call.operation === "deleteVm";
      transcript.add(isNote ? "note" : "detail", call.sender, `cloud ${call.operation} ${call.subject}`);
      for (const listener of listeners) listener.onCloudCall?.(call);
    },
  };
}

/** The cloud, with the times of a real one. */
const cloudOf = ({ clock }: Scope, seed: number): SimulatedCloud =>
  createSimulatedCloud({ clock, random: streamOf(seed, "cloud"), bootDelayMs: 20_000, deleteDelayMs: 8_000 });

/** A VM of another cluster in the same account. */
async function addForeignVm(cloud: SimulatedCloud): Promise<void> {
  const place = { machineType: "small", region: "sim-1", zone: "sim-1a", image: "image-1" } as const;
  await cloud.createVm({ ...place, name: foreignVm, token: foreignVm, tags: { "millwright.dev/cluster": "another" } });
}

/** Runs the world until a promise is settled, and returns what it resolves with. */
export async function runUntilSettled<T>(scheduler: Scheduler, work: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  work.then(settle, settle);
  await scheduler.runUntil(scheduler.nowMs() + 60_000, () => isSettled);
  return work;
}

/** Makes the API server and the cloud, and what connects the others with them. */
function createInfrastructure({ seed, onLine }: Pick<WorldOptions, "seed" | "onLine">) {
  const scheduler = createScheduler(streamOf(seed, "scheduler"));
  const transcript = createTranscript(scheduler.nowMs, onLine);
  const calls = recordCalls(transcript, scheduler.nowMs);
  const scopeOf = (name: string): Scope => scheduler.scope(name);
  const server = createApiServer({
    clock: scopeOf("api-server").clock,
    random: streamOf(seed, "api-server"),
    requestLogLimit: 1,
    bookmarkEveryMs,
  });
  const cloud = cloudOf(scopeOf("cloud"), seed);
  const networkFaults = createNetworkFaults();
  const network = createNetwork({
    scheduler,
    random: streamOf(seed, "network"),
    faults: networkFaults,
    serve: server.serveInProcess(),
    onServed: calls.onServed,
  });
  const cloudWire = createCloudWire({
    scheduler,
    random: streamOf(seed, "cloud-wire"),
    cloud,
    onCall: calls.onCall,
  });
  const clientOf = (name: string): ApiClient => {
    const scope = scopeOf(name);
    const random = streamOf(seed, name);
    const connections = network.connect(scope);
    return createApiClient(
      { server: "http://127.0.0.1" },
      { clock: scope.clock, random, connections, userAgent: name },
    );
  };
  return { scheduler, transcript, calls, scopeOf, server, cloud, networkFaults, network, cloudWire, clientOf };
}

let withCrds: Promise<ReturnType<ApiServer["backup"]>> | undefined;

/** The state of an API server with the CRDs. Made once: to compile their schemas takes as long as an hour of a simulation. */
async function stateWithCrds(): Promise<ReturnType<ApiServer["backup"]>> {
  const { scheduler, server, clientOf } = createInfrastructure({ seed: 0, onLine: undefined });
  const people = clientOf("people");
  const install = async (): Promise<void> => {
    for (const crd of crds())
      await people.create(customResourceDefinitionResource, { ...crd, metadata: { name: crd.metadata.name } });
  };
  await runUntilSettled(scheduler, install());
  const state = server.backup();
  await server.close();
  return state;
}

/** Makes a world: an API server, a cloud, nodes, people, and processes of the controllers, all in virtual time. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed } = options;
  const infrastructure = createInfrastructure(options);
  const { scheduler, transcript, calls, scopeOf, server, cloud, networkFaults, network, cloudWire, clientOf } =
    infrastructure;
  const people = clientOf("people");
  const nodeScope = scopeOf("kubelets");
  const kubelets = createKubelets(
    nodeScope,
    clientOf("kubelets"),
    server.objects,
    cloud,
    createChoices(streamOf(seed, "kubelets")),
    options.reportsPressure,
  );
  cloud.subscribe(({ id, name, state, stateReason }) =>
    transcript.add("note", "cloud", `VM ${id} of ${name}: ${state} (${stateReason})`),
  );
  const processOf = (name: string, elects: boolean, ofNamespace = namespace): ControllerProcess => {
    const parts = { seed, scheduler, network, cloud: cloudWire, transcript, namespace: ofNamespace };
    return createControllerProcess({ ...parts, name, elects, alteration: options.alteration });
  };
  const processes = processNames.slice(0, options.processes).map((name) => processOf(name, true));
  if (options.hasNeighbours === true) processes.push(processOf(otherProcessName, true, otherNamespace));
  const rogues: ControllerProcess[] = [];

  const outside = scopeOf("outside");
  const history = keepBackups(server, outside, () =>
    kubelets.restored(server.objects.list("nodes.").map(({ metadata }) => metadata.name)),
  );

  withCrds ??= stateWithCrds();
  await server.restart({ restore: await withCrds });
  await runUntilSettled(scheduler, declare(people, options));
  await addForeignVm(cloud);
  let stopApplications = (): void => undefined;
  if (options.hasPods) {
    const parts = [
      scopeOf("workloads"),
      withPatientWatches(clientOf("workloads")),
      streamOf(seed, "workloads/retries"),
    ] as const;
    stopApplications = startApplications(...parts, server.clusterFaults);
  }
  kubelets.start();
  history.start();
  for (const process of processes) process.start();
  return {
    seed,
    scheduler,
    transcript,
    server,
    cloud,
    cloudWire,
    networkFaults,
    kubelets,
    processes,
    people,
    released: new Set(),
    requested: new Set(),
    lost: new Set(),
    awaiting: new Set(),
    approvals: { count: 0, ofGeneration: new Map(), untilMs: Number.NEGATIVE_INFINITY },
    outside,
    listen: calls.listen,
    ...history,
    async close() {
      for (const process of [...processes, ...rogues]) process.remove();
      stopApplications();
      cloud.close();
      await server.close();
      scheduler.clear();
      for (const process of [...processes, ...rogues]) process.release();
    },
    startRogue() {
      const rogue = processOf(`rogue${rogues.length + 1}-`, false);
      rogues.push(rogue);
      rogue.start();
      return rogue;
    },
  };
}
