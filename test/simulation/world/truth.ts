import { leaseNames, type Machine, type MachineDeployment, type MachineSet } from "@millwright/core";
import { isLive, type Vm } from "@millwright/provider-mock";
import { namespace } from "./controller-process.ts";
import { poolName, type World } from "./world.ts";

const group = "machine.sapcloud.io";

/** What is really there, whatever anyone believes: read from the store of the API server and from the cloud. */
export interface Truth {
  machines(): readonly Machine[];
  sets(): readonly MachineSet[];
  pool(): MachineDeployment | undefined;
  nodeNames(): readonly string[];
  isReady(nodeName: string): boolean;
  /** Who holds the first lease, and since when, milliseconds of wall time. */
  leader(): { readonly holder: string; readonly sinceMs: number };
  /** VMs that are neither terminating nor gone. */
  liveVms(): readonly Vm[];
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
  const all = <T>(collection: string, scope: string | undefined = namespace): readonly T[] =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    server.objects.list(collection, scope) as unknown as readonly T[];
  type NodeObject = {
    readonly metadata: { readonly name: string };
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  };
  const nodes = (): readonly NodeObject[] => all<NodeObject>("nodes.", "");
  return {
    machines: () => all<Machine>(`machines.${group}`),
    sets: () => all<MachineSet>(`machinesets.${group}`),
    pool: () =>
      all<MachineDeployment>(`machinedeployments.${group}`).find(({ metadata }) => metadata.name === poolName),
    nodeNames: () => nodes().map(({ metadata }) => metadata.name),
    isReady: (nodeName) =>
      nodes()
        .find(({ metadata }) => metadata.name === nodeName)
        ?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
    leader() {
      type Lease = { readonly metadata: { readonly name: string }; readonly spec?: Readonly<Record<string, unknown>> };
      const lease = all<Lease>("leases.coordination.k8s.io").find(({ metadata }) => metadata.name === leaseNames[0]);
      const { holderIdentity, acquireTime } = lease?.spec ?? {};
      return {
        holder: typeof holderIdentity === "string" ? holderIdentity : "",
        sinceMs: typeof acquireTime === "string" ? Date.parse(acquireTime) : Number.NaN,
      };
    },
    liveVms: () => cloud.vms().filter(isLive),
  };
}
