import { type Machine, machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { createClusterFaults } from "@millwright/devcluster";
import { type KubeObject, nodeResource, type ResourceType } from "@millwright/kube";
import { expect } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { goPrograms, leaseHolders, startGoProgram } from "../harness/go-mcm.ts";
import { startMillwright } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { createSituations, machinesOf, type Situation } from "./handover-situations.ts";
import { type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 180_000;
/** Longer than elsewhere: a manager that loses its Leases on a busy computer ends, and nothing restarts it here. */
const election = [
  "--leader-elect=true",
  "--leader-elect-lease-duration=12s",
  "--leader-elect-renew-deadline=10s",
  "--leader-elect-retry-period=500ms",
];
const revision = "deployment.kubernetes.io/revision";

/** Who manages the machines. */
export type Manager = "Go" | "Millwright";

/** How one manager follows another one. */
export interface Switch {
  readonly from: Manager;
  readonly to: Manager;
  readonly signal: NodeJS.Signals;
  /** The VMs join a cluster of their own, as in Gardener. */
  readonly hasOwnTarget: boolean;
}

/** What is compared of a deployment. */
export interface Before {
  /** {@link identityOf} the machines that stay. */
  readonly kept: readonly string[];
  /** Revisions of its sets, by their names, which have the hash. */
  readonly sets: ReadonlyMap<string, string>;
}

/** A fleet in which one manager took over from another one, with a deployment in each situation. */
export interface HandOver {
  readonly fleet: RealFleet;
  /** As no manager ran, by deployment. */
  readonly before: ReadonlyMap<string, Before>;
  /** Ids of all VMs that ever were, by machine. */
  readonly vms: ReadonlyMap<string, ReadonlySet<string>>;
  setsOf(deployment: string): Promise<ReadonlyMap<string, string>>;
  /** What must not change at rest. */
  written(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Name, UID and VM of a machine; the VM of one that is being created is not known yet. */
export const identityOf = ({ metadata, spec }: Machine): string =>
  `${metadata.name} ${metadata.uid} ${spec.providerID ?? ""}`;

async function startManager(manager: Manager, fleet: RealFleet, running: Program[]): Promise<void> {
  if (manager === "Millwright") {
    const clusters = [`--control-kubeconfig=${fleet.controllersKubeconfig}`, ...fleet.targetFlags];
    running.push(startMillwright(["run", "--provider=mock", ...clusters, ...election]));
  } else
    for (const name of goPrograms)
      running.push(await startGoProgram(name, fleet.kubeconfig, election, fleet.target.kubeconfig));
  await eventually(async () => expect(await leaseHolders(fleet.api)).toEqual([manager, manager]), LONG);
}

/** Brings a deployment into each situation under `from`, ends it by a signal, and starts `to`; resolves when that one leads. */
export async function startHandOver(
  { from, to, signal, hasOwnTarget }: Switch,
  all: Readonly<Record<string, Situation>>,
): Promise<HandOver> {
  const clusterFaults = createClusterFaults();
  const nodeLife = { clusterFaults, heartbeatMs: 1_000, silenceMs: 15_000 };
  const fleet = await startRealFleet(nodeLife, { bootDelayMs: 3_000, deleteDelayMs: 3_000 }, { hasOwnTarget });
  const stopKubelet = (node: string): { remove(): void } => clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
  const running: Program[] = [];
  const before = new Map<string, Before>();
  const vms = new Map<string, Set<string>>();
  fleet.cloud.subscribe(({ name, id }) => vms.set(name, (vms.get(name) ?? new Set()).add(id)));

  const listOf = async (type: ResourceType, { api }: Pick<RealFleet, "api"> = fleet): Promise<readonly KubeObject[]> =>
    (await api.list(type)).items;
  const setsOf = async (name: string): Promise<ReadonlyMap<string, string>> =>
    new Map(
      (await listOf(machineSetResource))
        .filter(({ metadata }) => metadata.labels?.["name"] === name)
        .map(({ metadata }) => [metadata.name ?? "", metadata.annotations?.[revision] ?? ""]),
    );
  const stop = async (by: NodeJS.Signals): Promise<void> => {
    await Promise.all(running.splice(0).map((program) => program.stop(by)));
  };
  const close = async (): Promise<void> => {
    await stop("SIGKILL");
    await fleet.close();
  };
  const each = (run: (name: string, situation: Situation) => Promise<void>): Promise<unknown> =>
    Promise.all(Object.entries(all).map(([name, situation]) => run(name, situation)));
  const enter = (isBrief: boolean) =>
    each(async (name, situation) => {
      if ((situation.isBrief === true) === isBrief) await situation.enter?.({ fleet, name, stopKubelet });
    });

  try {
    await startManager(from, fleet, running);
    await createSituations(fleet, all);
    await enter(false);
    await enter(true);
    await stop(signal);
    await each(async (name, { isKept = ({ metadata }) => metadata.deletionTimestamp === undefined }) => {
      const kept = (await machinesOf({ fleet, name })).filter(isKept).map(identityOf);
      before.set(name, { kept, sets: await setsOf(name) });
    });
    await each(async (name, { between }) => between?.({ fleet, name, stopKubelet }));
    await startManager(to, fleet, running);
    await each(async (name, { leave }) => leave?.({ fleet, name, stopKubelet }));
  } catch (error) {
    console.log(running.map((program) => program.output().slice(-3_000)).join("\n"));
    await close();
    throw error;
  }
  return {
    fleet,
    before,
    vms,
    setsOf,
    close,
    written: async () => [
      ...(await fleet.machines()).map(({ metadata: { name, generation } }) => `${name} ${generation}`),
      ...(await listOf(nodeResource, fleet.target)).map(({ metadata: { name, labels, annotations }, spec }) =>
        JSON.stringify([name, labels, annotations, spec]),
      ),
      // MCM also writes a status again that has not changed.
      ...[...(await listOf(machineSetResource)), ...(await listOf(machineDeploymentResource))].map(
        ({ metadata: { name, generation, resourceVersion } }) =>
          `${name} ${to === "Go" ? generation : resourceVersion}`,
      ),
    ],
  };
}
