import {
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  type Machine,
  type MachineDeployment,
  machineNameIn,
  type MachinePhase,
  type MachineSet,
  nodeConditionTypes,
  phaseOf,
  readMachine,
  readMachineDeployment,
  readMachineSet,
  type ReadResult,
  updateResults,
} from "@millwright/core";
import { applyMergePatch, controllerRefOf, isApiObject } from "@millwright/kube";
import type { Node } from "../cluster/node-objects.ts";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { apiTime } from "../conditions/set-condition.ts";
import type { NodeConditionState } from "../machine/node-condition.ts";
import { isDeleting } from "../machine/phase.ts";

/** The objects that a preview begins with, all of one namespace. */
export interface PreviewObjects {
  readonly deployments: readonly MachineDeployment[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  /** Absent without a target cluster. */
  readonly nodes?: readonly Node[];
}

/** Objects as plain values that change by patches alone; nothing of it leaves the process. */
export interface ModelCluster {
  readonly hasTarget: boolean;
  readonly deployments: Map<string, MachineDeployment>;
  readonly sets: Map<string, MachineSet>;
  readonly machines: Map<string, Machine>;
  readonly nodes: Map<string, Node>;
  /** Machines by the UID of the set that controls them. */
  machinesOf(uid: string): readonly Machine[];
  nodesOf(machines: readonly Machine[]): NodesOfMachines;
  /** A name for a machine to be: the real one is drawn when it is made. */
  nextName(set: string): string;
  patchDeployment(name: string, patch: object): void;
  patchSet(name: string, patch: object): void;
  patchMachine(name: string, patch: object): void;
  patchNode(name: string, patch: object): void;
  /** What the node says of its machine, in place of what it said before. */
  sayOnNode(name: string, condition: NodeConditionState, now: Date): void;
  /** All goes well with a machine that is coming up: it serves. */
  join(name: string, now: Date): void;
  /** The machine, its VM and its node are gone. */
  leave(name: string): void;
  /** The agent on the node of a machine is done. */
  update(name: string, now: Date): void;
}

const readOrThrow = <T>(read: (raw: unknown) => ReadResult<T>, raw: unknown): T => {
  const result = read(raw);
  if (!result.ok) throw new TypeError(`a decision made what cannot be: ${JSON.stringify(result.problems)}`);
  return result.value;
};

const isNode = (value: unknown): value is Node => isApiObject(value) && value.metadata.name !== undefined;

const byName = <T extends { readonly metadata: { readonly name: string } }>(objects: readonly T[]): Map<string, T> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

/** Whether a machine is on its way up, and nothing stands in its way. */
export const isComing = (machine: Machine): boolean =>
  !isDeleting(machine) && ["", "Pending"].includes(phaseOf(machine) ?? "");

/** Makes a model of objects, which stay as they are. */
export function createModelCluster(objects: PreviewObjects): ModelCluster {
  const deployments = byName(objects.deployments);
  const sets = byName(objects.sets);
  const machines = byName(objects.machines);
  const nodes = byName(objects.nodes ?? []);
  const hasTarget = objects.nodes !== undefined;
  let made = 0;

  const patcher =
    <T>(store: Map<string, T>, read: (raw: unknown) => ReadResult<T>) =>
    (name: string, patch: object): void => {
      const object = store.get(name);
      if (object !== undefined) store.set(name, readOrThrow(read, applyMergePatch(object, patch)));
    };
  const patchMachine = patcher(machines, readMachine);
  const patchNode = (name: string, patch: object): void => {
    const node = nodes.get(name);
    const patched = node === undefined ? undefined : applyMergePatch(node, patch);
    if (isNode(patched)) nodes.set(name, patched);
  };
  const sayOnNode = (name: string, condition: NodeConditionState, now: Date): void => {
    const others = (nodes.get(name)?.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    patchNode(name, { status: { conditions: [...others, { ...condition, lastTransitionTime: apiTime(now) }] } });
  };
  const nodeNameOf = (machine: Machine | undefined): string => machine?.metadata.labels?.[labelKeys.node] ?? "";
  const setPhase = (name: string, phase: MachinePhase, now: Date): void =>
    patchMachine(name, { status: { currentStatus: { phase, lastUpdateTime: apiTime(now) } } });

  return {
    hasTarget,
    deployments,
    sets,
    machines,
    nodes,
    machinesOf: (uid) => [...machines.values()].filter((machine) => controllerRefOf(machine)?.uid === uid),
    nodesOf: (of) =>
      new Map(
        of.flatMap((machine): [string, Node][] => {
          const node = nodes.get(nodeNameOf(machine));
          return node === undefined ? [] : [[machine.metadata.name, node]];
        }),
      ),
    nextName: (set) => machineNameIn(set, `new-${++made}`),
    patchDeployment: patcher(deployments, readMachineDeployment),
    patchSet: patcher(sets, readMachineSet),
    patchMachine,
    patchNode,
    sayOnNode,
    join(name, now) {
      setPhase(name, hasTarget ? "Running" : "Available", now);
      if (!hasTarget) return;
      patchMachine(name, { metadata: { labels: { [labelKeys.node]: name } } });
      if (!nodes.has(name)) nodes.set(name, { metadata: { name } });
    },
    leave(name) {
      nodes.delete(nodeNameOf(machines.get(name)));
      machines.delete(name);
    },
    update(name, now) {
      const node = nodes.get(nodeNameOf(machines.get(name)));
      if (node === undefined) return;
      const { name: nodeName } = node.metadata;
      patchNode(nodeName, { metadata: { labels: { [labelKeys.updateResult]: updateResults.successful } } });
      const reason = inPlaceUpdateReasons.updateSuccessful;
      const message = inPlaceUpdateMessages[reason];
      sayOnNode(nodeName, { type: nodeConditionTypes.inPlaceUpdate, status: "True", reason, message }, now);
    },
  };
}
