import type { Node } from "@millwright/controllers";
import type { MachineList, NodesOfMachines } from "@millwright/controllers/decisions";
import { labelKeys, type Machine } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import { type TrackedMachines, trackMachines } from "../machine-lists/tracked-machines.ts";

/** The machines and nodes of a model, found by what the controllers look for. The cost of a change does not depend on their number. */
export interface ModelMachines {
  readonly machines: ReadonlyMap<string, Machine>;
  readonly nodes: ReadonlyMap<string, Node>;
  /** Machines by the UID of their controlling set; those without one by the empty UID. The same list until one of them, or of their nodes, changes. */
  machinesOf(uid: string): MachineList;
  /** Nodes by name of their machine. Follows the changes. */
  readonly nodesByMachine: NodesOfMachines;
  /** Names of machines that changed, or whose node did, since the last call; at first all. */
  takeChanged(): readonly string[];
  put(machine: Machine): void;
  take(name: string): void;
  putNode(node: Node): void;
  takeNode(name: string): void;
}

const ownerOf = (machine: Machine): string => controllerRefOf(machine)?.uid ?? "";

/** Name of the node of a machine; empty before it has one. */
export const nodeNameOf = (machine: Machine | undefined): string => machine?.metadata.labels?.[labelKeys.node] ?? "";

/** The group of a key, created on first use. */
function groupOf<Group>(groups: Map<string, Group>, key: string, make: () => Group): Group {
  const group = groups.get(key) ?? make();
  groups.set(key, group);
  return group;
}

/** Creates the machines and nodes of a model. */
export function createModelMachines(initial: readonly Machine[], initialNodes: readonly Node[]): ModelMachines {
  const machines = new Map<string, Machine>();
  const nodes = new Map<string, Node>();
  const byOwner = new Map<string, TrackedMachines>();
  /** Names of machines by the name of their node, which may not exist. */
  const onNode = new Map<string, Set<string>>();
  const nodesByMachine = new Map<string, Node>();
  const changed = new Set<string>();

  const ownedBy = (owner: string): TrackedMachines => groupOf(byOwner, owner, trackMachines);
  const link = (name: string, node: Node | undefined): void => {
    if (nodesByMachine.get(name) === node) return;
    changed.add(name);
    if (node === undefined) nodesByMachine.delete(name);
    else nodesByMachine.set(name, node);
    const machine = machines.get(name);
    if (machine !== undefined) ownedBy(ownerOf(machine)).touch(name);
  };
  const takeFromGroups = (machine: Machine): void => {
    ownedBy(ownerOf(machine)).take(machine.metadata.name);
    onNode.get(nodeNameOf(machine))?.delete(machine.metadata.name);
  };
  const put = (machine: Machine): void => {
    const { name } = machine.metadata;
    const before = machines.get(name);
    if (before === machine) return;
    const owner = ownerOf(machine);
    // One that stays with its owner keeps its place in the list.
    if (before !== undefined && (ownerOf(before) !== owner || nodeNameOf(before) !== nodeNameOf(machine)))
      takeFromGroups(before);
    machines.set(name, machine);
    changed.add(name);
    ownedBy(owner).put(machine);
    groupOf(onNode, nodeNameOf(machine), () => new Set<string>()).add(name);
    link(name, nodes.get(nodeNameOf(machine)));
  };
  const linkAll = (nodeName: string): void => {
    for (const machine of onNode.get(nodeName) ?? []) link(machine, nodes.get(nodeName));
  };
  const putNode = (node: Node): void => {
    if (nodes.get(node.metadata.name) === node) return;
    nodes.set(node.metadata.name, node);
    linkAll(node.metadata.name);
  };
  for (const node of initialNodes) putNode(node);
  for (const machine of initial) put(machine);

  return {
    machines,
    nodes,
    nodesByMachine,
    takeChanged() {
      const names = [...changed];
      changed.clear();
      return names;
    },
    machinesOf: (uid) => ownedBy(uid).list(),
    put,
    take(name) {
      const machine = machines.get(name);
      if (machine === undefined) return;
      takeFromGroups(machine);
      machines.delete(name);
      link(name, undefined);
    },
    putNode,
    takeNode(name) {
      nodes.delete(name);
      linkAll(name);
    },
  };
}
