import { providerIdKey } from "@millwright/core/driver-host";
import { annotationKeys, labelKeys, type Machine } from "@millwright/core/machine-api";
import type { MatchNode } from "../model/pick-node.ts";
import type { Node } from "../model/node-objects.ts";
import { hasId } from "../model/provisioning.ts";
import { firstHolder, type VmHolder, type VmOwners } from "../model/vm-holder.ts";
import type { ControlCaches, TargetCaches } from "./caches.ts";

/** The caches in which machines of one VM are found. */
export interface HolderCaches {
  readonly caches: Pick<ControlCaches, "machines">;
  readonly target?: { readonly caches: Pick<TargetCaches, "nodes"> } | undefined;
  /** Where the driver has listed for which Machines VMs were created. Only for a VM that several Machines name. */
  readonly vmOwners?: Pick<VmOwners, "ownerOf"> | undefined;
}

/** A machine as the node that its VM would be, so that drivers can compare its id. */
const asNode = ({ metadata, spec }: Machine): Node => ({
  metadata: { name: metadata.labels?.[labelKeys.node] ?? "" },
  spec: { providerID: spec.providerID ?? "" },
});

/** The Machine that a node of a VM names in its label. */
function machineOfNode(key: string, { target }: HolderCaches): string | undefined {
  const nodes = target?.caches.nodes.store.byIndex("providerId", key) ?? [];
  return nodes.map(({ metadata }) => metadata.labels?.[labelKeys.machineName]).find((name) => name !== undefined);
}

/** The Machine for which a VM was created, as one of the machines has recorded it that name the VM and found it by its id. */
const recordedOwner = (machines: readonly Machine[]): string | undefined =>
  machines.map(({ metadata }) => metadata.annotations?.[annotationKeys.vmName]).find((name) => name !== undefined);

/**
 * The other Machine to which a VM belongs that this machine names, or with which its driver answered: several Machines name one VM after a manifest was copied, an id was edited, or a driver answered
 * two creations with it. `undefined` when the VM is this machine's. An id that another Machine has stored is never stored a second time. Costs one look-up in an index.
 */
export function findVmHolder(
  machine: Machine,
  providerId: string,
  sources: HolderCaches,
  match: MatchNode,
): VmHolder | undefined {
  const key = providerIdKey(providerId);
  if (key === undefined) return undefined;
  const { uid } = machine.metadata;
  const similar = sources.caches.machines.store
    .byIndex("providerId", key)
    .filter(({ metadata }) => metadata.uid !== uid);
  if (similar.length === 0) return undefined;
  const claiming = { ...machine, spec: { ...machine.spec, providerID: providerId } };
  const others = similar.filter(
    (other) => other.spec.providerID === providerId || match(claiming, asNode(other)) === "same",
  );
  if (others.length === 0) return undefined;
  const contenders = hasId(machine) ? [claiming, ...others] : others;
  const first = firstHolder(providerId, contenders, {
    ofTags: sources.vmOwners?.ownerOf(providerId) ?? recordedOwner(contenders),
    ofNode: machineOfNode(key, sources),
  });
  return first === undefined || first === claiming ? undefined : { name: first.metadata.name, providerId };
}
