import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { kubeconfigFor } from "@millwright/devcluster";
import type { SimulatedCloudOptions } from "@millwright/provider-mock";
import { expect } from "vitest";
import { type FaultyProxy, startFaultyProxy } from "../compat/faulty-proxy.ts";
import { eventually } from "./eventually.ts";
import { type Fleet, type Installation, machineClass, machineDeployment, startInstallation } from "./installation.ts";
import { type InvariantWatch, watchInvariants } from "./invariants.ts";
import { type MillwrightProcess, startMillwright } from "./millwright.ts";
import type { ControllersAccess } from "./restricted-server.ts";
import { shortLeases } from "./short-leases.ts";

const namespace = "default";

/** Machines of the deployment `fleet`, which is rolled out. */
export const FLEET = 6;
/** Machines of the deployment `pool`, before and after its scale-up. */
export const POOL = { before: 2, after: 6 } as const;

/** Starts the controllers with these arguments; by default those of the sources. */
export type StartControllers = (args: readonly string[]) => MillwrightProcess;

/** The cluster that processes take over from each other. */
export interface StandbyStage<Installed extends Fleet & ControllersAccess> {
  readonly installation: Installed;
  /** The API server; `ca` is absent where it has none. */
  readonly server: { readonly url: string; readonly ca?: string };
}

/** Two deployments, processes that lead and stand by, and the invariants, watched from the start. */
export interface StandbyFleet<Installed extends Fleet = Fleet> {
  readonly installation: Installed;
  readonly invariants: InvariantWatch;
  /** A proxy between some processes and the API server. */
  readonly proxy: FaultyProxy;
  /** Starts a process with short leases; `viaProxy`: its connection to the API server can be cut. */
  start(options?: { readonly viaProxy?: boolean; readonly controllers?: StartControllers }): MillwrightProcess;
  /** The test ends this process: the invariants do not require that it runs. */
  expectEnd(process: MillwrightProcess): void;
  /** VMs that the cloud ever created, by class of their machines. */
  created(): number;
  /** Waits until both deployments run with six machines each, those of `fleet` with this class, and no other machine is there. */
  untilDone(className: string): Promise<void>;
  /** Begins a rollout of `fleet` to a class, and the scale-up of `pool`; resolves in the middle of both. */
  beginLoad(className: string): Promise<void>;
  /** Deletes the deployment `pool`; resolves in the middle of it. */
  beginDeletion(): Promise<void>;
  close(): Promise<void>;
}

const changeDeployment = ({ api }: Fleet, name: string, spec: object): Promise<unknown> =>
  api.patch(machineDeploymentResource, { namespace, name }, { spec }, { kind: "merge" });

async function createDeployments(fleet: Fleet): Promise<void> {
  for (const name of ["small", "big"]) await fleet.api.create(machineClassResource, machineClass(name));
  for (const [name, replicas] of [
    ["fleet", FLEET],
    ["pool", POOL.before],
  ] as const)
    await fleet.api.create(machineDeploymentResource, machineDeployment(name, "small", replicas));
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
  await changeDeployment(fleet, "fleet", { strategy });
}

/** Starts the fleet on a devcluster API server. Creations and deletions are slow, so that what is done to the leader finds them in flight. */
export async function startStandbyFleet(
  options: Partial<SimulatedCloudOptions> = {},
): Promise<StandbyFleet<Installation>> {
  const installation = await startInstallation({ latencyMs: 200, deleteDelayMs: 2_000, ...options });
  const { url } = installation;
  return createStandbyFleet({ installation, server: { url } });
}

/** Creates the deployments, with the classes `small` and `big`. No controller runs yet. The fleet closes what it is on. */
export async function createStandbyFleet<Installed extends Fleet & ControllersAccess>({
  installation,
  server,
}: StandbyStage<Installed>): Promise<StandbyFleet<Installed>> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-standby-"));
  const proxy = await startFaultyProxy(server);
  const viaProxyFile = join(folder, "kubeconfig");
  await writeFile(viaProxyFile, kubeconfigFor(proxy.url, { token: installation.controllersToken }), { mode: 0o600 });
  const started: MillwrightProcess[] = [];
  const ended = new Set<MillwrightProcess>();
  const invariants = watchInvariants({
    fleet: installation,
    maxVms: FLEET + 1 + POOL.after,
    alive: () => started.filter((process) => !ended.has(process)),
    started: () => started,
  });
  const vms = new Set<string>();
  const unfollow = installation.cloud.subscribe(({ id }) => vms.add(id));
  const change = (name: string, spec: object): Promise<unknown> => changeDeployment(installation, name, spec);
  await createDeployments(installation);

  return {
    installation,
    invariants,
    proxy,
    start({ viaProxy = false, controllers = startMillwright } = {}) {
      const kubeconfig = viaProxy ? viaProxyFile : installation.controllersKubeconfig;
      const process = controllers(["run", "--provider=mock", `--control-kubeconfig=${kubeconfig}`, ...shortLeases]);
      started.push(process);
      return process;
    },
    expectEnd: (process) => void ended.add(process),
    created: () => vms.size,
    untilDone: (className) =>
      eventually(async () => {
        const found = (await installation.machines()).map((machine) => {
          const { labels = {} } = machine.metadata;
          return `${labels["name"]} ${machine.spec.class?.name} ${phaseOf(machine)}`;
        });
        const pool = found.filter((text) => text === "pool small Running").length;
        expect(found.filter((text) => !text.startsWith("pool")).toSorted()).toEqual(
          Array.from({ length: FLEET }, () => `fleet ${className} Running`),
        );
        expect([POOL.before, POOL.after]).toContain(pool);
        expect(found).toHaveLength(FLEET + pool);
        expect(installation.cloud.vms().filter(({ state }) => state === "running")).toHaveLength(found.length);
      }, 120_000),
    async beginLoad(className) {
      await change("pool", { replicas: POOL.after });
      await change("fleet", { template: { spec: { class: { kind: "MachineClass", name: className } } } });
      await eventually(async () => {
        const ofClass = (await installation.machines()).filter(
          ({ metadata, spec }) => metadata.labels?.["name"] === "fleet" && spec.class?.name === className,
        );
        expect(ofClass.filter((machine) => phaseOf(machine) === "Running").length).toBeGreaterThan(0);
        expect(ofClass.length, "the rollout was complete before").toBeLessThan(FLEET);
      });
    },
    async beginDeletion() {
      await installation.api.delete(machineDeploymentResource, { namespace, name: "pool" });
      await eventually(async () => expect((await installation.machines()).map(phaseOf)).toContain("Terminating"));
    },
    async close() {
      unfollow();
      await invariants.close();
      for (const process of started) process.child.kill("SIGCONT");
      await Promise.all(started.map((process) => process.stop("SIGKILL")));
      await proxy.close();
      await installation.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
