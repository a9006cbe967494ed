import { type MachineDeployment, readSizeLimits, type SizeLimits } from "@millwright/core/machine-api";
import { keyFor, type Log } from "@millwright/kube";
import type { AutoscalerFleet } from "../groups/fleet.ts";
import { type FleetIndex, followFleet } from "../groups/fleet-index.ts";
import { CallError } from "../wire/call-error.ts";
import type { WireNode, WireNodeGroup } from "../wire/messages.ts";

/** A deployment that the autoscaler scales. */
export interface Group {
  readonly fleet: AutoscalerFleet;
  readonly index: FleetIndex;
  readonly deployment: MachineDeployment;
  readonly limits: SizeLimits;
}

/** The deployments that the autoscaler scales, in all namespaces of the process. */
export interface Groups {
  list(): readonly Group[];
  /** @throws CallError NOT_FOUND */
  get(id: string): Group;
  ofNode(node: Pick<WireNode, "providerID" | "name">): Group | undefined;
  close(): void;
}

const idOf = ({ metadata: { namespace, name } }: MachineDeployment): string => keyFor({ namespace, name });

/** A group as the autoscaler gets it. */
export const toWireGroup = ({ deployment, limits: { min, max } }: Group): WireNodeGroup => ({
  id: idOf(deployment),
  minSize: min,
  maxSize: max,
  debug: `MachineDeployment ${idOf(deployment)} (${min} to ${max})`,
});

/** Follows the deployments of fleets. Annotations that cannot be used are logged once. */
export function followGroups(fleets: readonly AutoscalerFleet[], log: Log): Groups {
  const followed = fleets.map((fleet) => ({ fleet, index: followFleet(fleet) }));
  const reported = new Map<string, string>();

  function limitsOf(deployment: MachineDeployment): SizeLimits | undefined {
    const limits = readSizeLimits(deployment);
    const id = idOf(deployment);
    if (typeof limits !== "string") {
      reported.delete(id);
      return limits;
    }
    if (reported.get(id) !== limits)
      log("warn", "The cluster autoscaler cannot scale a deployment", {
        kind: "MachineDeployment",
        namespace: deployment.metadata.namespace,
        name: deployment.metadata.name,
        because: limits,
      });
    reported.set(id, limits);
    return undefined;
  }
  const groupOf = (
    { fleet, index }: (typeof followed)[number],
    deployment: MachineDeployment | undefined,
  ): Group | undefined => {
    const limits = deployment === undefined ? undefined : limitsOf(deployment);
    return deployment === undefined || limits === undefined
      ? undefined
      : { fleet, index: index.read(), deployment, limits };
  };

  return {
    list: () =>
      followed
        .flatMap((each) => each.fleet.deployments.list(each.fleet.namespace).map((found) => groupOf(each, found)))
        .filter((group) => group !== undefined)
        .toSorted((a, b) => (idOf(a.deployment) < idOf(b.deployment) ? -1 : 1)),
    get(id) {
      for (const each of followed) {
        const found = groupOf(each, each.fleet.deployments.get(id));
        if (found !== undefined) return found;
      }
      throw new CallError("NOT_FOUND", `no MachineDeployment ${id} with a maximum size`);
    },
    ofNode(node) {
      for (const each of followed) {
        const index = each.index.read();
        const machine = index.machineOf(node);
        if (machine === undefined) continue;
        const uid = index.deploymentOf(machine);
        const { deployments, namespace } = each.fleet;
        return groupOf(
          each,
          deployments.list(namespace).find(({ metadata }) => metadata.uid === uid),
        );
      }
      return undefined;
    },
    close() {
      for (const { index } of followed) index.close();
    },
  };
}
