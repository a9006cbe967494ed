import type { ListedMachine } from "@millwright/core";
import { providerIdKey } from "@millwright/core/driver-host";
import { labelKeys, type Machine, type MachineClass } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { createMatchNode, machinesMatching } from "../cluster/node-candidates.ts";
import type { Node } from "../model/node-objects.ts";
import { linkOf, type MatchNode } from "../model/pick-node.ts";
import { findOrphans } from "./find-orphans.ts";
import { type QuarantinedVm, readQuarantine } from "./quarantine.ts";

type Caches = Pick<ControllerContext, "caches" | "namespace" | "target" | "matchVm">;

/** A VM without machine, as it is recorded on a class. */
export interface OrphanVm {
  readonly className: string;
  readonly providerId: string;
  readonly entry: QuarantinedVm;
}

/** A recorded VM as the driver would list it. */
export const listedAs = ({ providerId, entry: { machine, uid } }: Omit<OrphanVm, "className">): ListedMachine => ({
  providerId,
  machineName: machine,
  ...(uid === undefined ? {} : { machineUid: uid }),
});

/** The Machine that a VM was created for, as far as the VM shows it: drivers and Nodes are compared with Machines. */
export const machineOfVm = (
  { providerId, machineName, machineUid = "" }: ListedMachine,
  { name, namespace = "" }: MachineClass["metadata"],
): Machine => ({
  metadata: { name: machineName, namespace, uid: machineUid },
  spec: { providerID: providerId, class: { kind: "MachineClass", name } },
});

/**
 * Whether a Node is that of a VM without machine. As for Machines, ids prove it. Where they do not show it, the Node names the Machine of the VM in its label, and no other one may be its Machine.
 */
function isNodeOf(machine: Machine, node: Node, match: MatchNode, { caches, namespace }: Caches): boolean {
  const link = linkOf(machine, node, match);
  if (link !== "unknown") return link === "same";
  const { name } = machine.metadata;
  return (
    node.metadata.labels?.[labelKeys.machineName] === name &&
    caches.machines.store.getByRef({ namespace, name }) === undefined &&
    machinesMatching(node, caches).length === 0
  );
}

/** The Nodes of a VM without machine: several after its host name was changed. None without a target cluster. */
export function nodesOfVm(vm: ListedMachine, className: string, context: Caches): readonly Node[] {
  const { target, caches, namespace, matchVm } = context;
  if (target === undefined || vm.parts !== undefined) return [];
  const { store } = target.caches.nodes;
  const key = providerIdKey(vm.providerId);
  const candidates = [
    ...(key === undefined ? [] : store.byIndex("providerId", key)),
    ...store.byIndex("machine", vm.machineName),
  ];
  const machine = machineOfVm(vm, { name: className, namespace });
  const match = createMatchNode(caches, namespace, matchVm);
  return [...new Set(candidates)].filter((node) => isNodeOf(machine, node, match, context));
}

/** Whether no Machine in the cache owns a VM that was found to be without one. Where it is a second VM of a machine, the list had both. */
export function isStillOrphan(vm: ListedMachine, { caches, namespace }: Caches): boolean {
  const named = caches.machines.store.getByRef({ namespace, name: vm.machineName });
  const ofNamed =
    named === undefined ? [] : [{ providerId: named.spec.providerID ?? "", machineName: named.metadata.name }];
  return findOrphans([vm], caches.machines.store.list(namespace), namespace, [vm, ...ofNamed]).length > 0;
}

/** The VM without machine whose Node this is; `undefined` when a Machine owns it, or it is in quarantine no longer. */
export function vmOfNode(node: Node, context: Caches): OrphanVm | undefined {
  const { caches, namespace } = context;
  const key = providerIdKey(node.spec?.providerID);
  const label = node.metadata.labels?.[labelKeys.machineName];
  const classes = caches.classes.store.list(namespace).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const recorded = classes.flatMap((machineClass) =>
    [...readQuarantine(machineClass).vms].map(([providerId, entry]): OrphanVm => {
      return { className: machineClass.metadata.name, providerId, entry };
    }),
  );
  return recorded.find((vm) => {
    const { providerId, entry } = vm;
    if (entry.parts !== undefined || (providerIdKey(providerId) !== key && entry.machine !== label)) return false;
    const listed = listedAs(vm);
    return (
      nodesOfVm(listed, vm.className, context).some(({ metadata }) => metadata.uid === node.metadata.uid) &&
      isStillOrphan(listed, context)
    );
  });
}
