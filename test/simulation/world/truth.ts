import {
  annotationKeys,
  leaseNames,
  type Machine,
  type MachineClass,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core/machine-api";
import type { ObjectRef } from "@millwright/kube";
import { isLive, type Vm } from "@millwright/provider-mock";
import { namespace } from "./controller-process.ts";
import { poolName, type World } from "./world.ts";

const group = "machine.sapcloud.io";

/** A Pod, as far as the checks need it. */
export interface PodObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
  };
  readonly status?: { readonly phase?: string };
}

/** A Node, as far as the checks need it. */
export interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A Namespace, as far as the checks need it. */
interface NamespaceObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
}

/** A Lease, as far as the checks need it. */
interface LeaseObject {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly creationTimestamp?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A Lease: who holds it, and since when, milliseconds of wall time. One that was deleted is written again by its holder, with the time at which it was acquired. */
export interface LeaseHolder {
  readonly holder: string;
  readonly sinceMs: number;
}

/** What is really there, whatever anyone believes: read from the store of the API server and from the cloud. */
export interface Truth {
  machines(): readonly Machine[];
  sets(): readonly MachineSet[];
  pool(): MachineDeployment | undefined;
  /** The same and those of its neighbours. */
  pools(): readonly MachineDeployment[];
  terminatingNamespaces(): readonly string[];
  /** Names of the classes with VMs without machine that are recorded to be deleted. */
  classesWithQuarantine(): readonly string[];
  nodeNames(): readonly string[];
  node(name: string): NodeObject | undefined;
  isReady(nodeName: string): boolean;
  isCordoned(nodeName: string): boolean;
  pods(): readonly PodObject[];
  /** How many volumes the API server has as attached to a node. */
  attachmentsOn(nodeName: string): number;
  /** All leases. */
  leases(): readonly ObjectRef[];
  /** Who holds each of the leases of a namespace. */
  leaders(namespace: string): readonly LeaseHolder[];
  /** VMs that are neither terminating nor gone. */
  liveVms(): readonly Vm[];
  /** The machines that a VM was created for or that name it: restored and copied ones have other UIDs. */
  machinesOf(vm: Pick<Vm, "tags" | "providerId">): readonly Machine[];
  /** The live VM that a machine has; undefined for a copy, which names that of another. */
  vmOf(machine: Machine): Vm | undefined;
}

/** The owner of a VM, by its tags. */
export const ownerOf = ({
  tags,
}: Pick<Vm, "tags">): { readonly uid: string; readonly machine: string; readonly cluster: string } => ({
  uid: tags["millwright.dev/machine-uid"] ?? "",
  machine: tags["millwright.dev/machine-name"] ?? "",
  cluster: tags["millwright.dev/cluster"] ?? "",
});

/** Reads the truth of a world. */
export function truthOf({ server, cloud }: Pick<World, "server" | "cloud">): Truth {
  // The schemas of the CRDs vouch for what is stored.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const all = <T>(collection: string, scope?: string): readonly T[] =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    server.objects.list(collection, scope) as unknown as readonly T[];
  const leases = (scope?: string): readonly LeaseObject[] => all<LeaseObject>("leases.coordination.k8s.io", scope);
  const nodes = (): readonly NodeObject[] => all<NodeObject>("nodes.");
  const pools = (scope?: string): readonly MachineDeployment[] =>
    all<MachineDeployment>(`machinedeployments.${group}`, scope);
  const node = (nodeName: string): NodeObject | undefined => nodes().find(({ metadata }) => metadata.name === nodeName);
  const isOf =
    ({ metadata, spec }: Machine) =>
    (vm: Pick<Vm, "tags" | "providerId">): boolean =>
      ownerOf(vm).uid === metadata.uid || (spec.providerID !== undefined && spec.providerID === vm.providerId);
  const machinesOf = (vm: Pick<Vm, "tags" | "providerId">): readonly Machine[] =>
    all<Machine>(`machines.${group}`).filter((machine) => isOf(machine)(vm));
  /** That for which it was created; where that is gone, the oldest one that names it. */
  const holderOf = (vm: Vm): string | undefined => {
    const own = machinesOf(vm).map(({ metadata }) => metadata);
    const oldest = own.toSorted((a, b) => ((a.creationTimestamp ?? "") < (b.creationTimestamp ?? "") ? -1 : 1));
    return (own.find(({ uid }) => uid === ownerOf(vm).uid) ?? oldest[0])?.uid;
  };
  return {
    machinesOf,
    vmOf: (machine) =>
      cloud.vms().find((vm) => isLive(vm) && isOf(machine)(vm) && holderOf(vm) === machine.metadata.uid),
    machines: () => all<Machine>(`machines.${group}`),
    sets: () => all<MachineSet>(`machinesets.${group}`),
    pool: () => pools(namespace).find(({ metadata }) => metadata.name === poolName),
    pools: () => pools(),
    terminatingNamespaces: () =>
      all<NamespaceObject>("namespaces.").flatMap(({ metadata }) =>
        metadata.deletionTimestamp === undefined ? [] : [metadata.name],
      ),
    classesWithQuarantine: () =>
      all<MachineClass>(`machineclasses.${group}`).flatMap(({ metadata }) =>
        metadata.annotations?.[annotationKeys.orphanVms] === undefined ? [] : [metadata.name],
      ),
    nodeNames: () => nodes().map(({ metadata }) => metadata.name),
    node,
    isReady: (nodeName) =>
      node(nodeName)?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
    isCordoned: (nodeName) => node(nodeName)?.spec?.unschedulable === true,
    pods: () => all<PodObject>("pods."),
    attachmentsOn(nodeName) {
      type Attachment = { readonly spec?: { readonly nodeName?: string } };
      return all<Attachment>("volumeattachments.storage.k8s.io").filter(({ spec }) => spec?.nodeName === nodeName)
        .length;
    },
    leases: () => leases().map(({ metadata }) => metadata),
    leaders(of) {
      const held = leases(of);
      return leaseNames.map((name) => {
        const { metadata, spec } = held.find((lease) => lease.metadata.name === name) ?? {};
        const { holderIdentity, acquireTime } = spec ?? {};
        return {
          holder: typeof holderIdentity === "string" ? holderIdentity : "",
          sinceMs: Math.max(Date.parse(String(acquireTime)), Date.parse(String(metadata?.creationTimestamp))),
        };
      });
    },
    liveVms: () => cloud.vms().filter(isLive),
  };
}
