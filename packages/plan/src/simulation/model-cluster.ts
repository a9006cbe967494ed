import type { Node } from "@millwright/controllers";
import { isDeleting, type NodeConditionState } from "@millwright/controllers/decisions";
import {
  inPlaceUpdateMessages,
  inPlaceUpdateReasons,
  labelKeys,
  type Machine,
  type MachineClass,
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
} from "@millwright/core/machine-api";
import { type ApiObject, apiTime, applyMergePatch, equalJson, isApiObject } from "@millwright/kube";
import { createModelMachines, type ModelMachines, nodeNameOf } from "./model-machines.ts";

/** The objects that a preview starts from, all of one namespace. */
export interface PreviewObjects {
  readonly deployments: readonly MachineDeployment[];
  readonly sets: readonly MachineSet[];
  readonly machines: readonly Machine[];
  /** Absent without a target cluster. */
  readonly nodes?: readonly Node[];
  /** Events of core/v1, from which the duration of deletions is estimated. Default: none. */
  readonly events?: readonly ApiObject[];
  /** Absent: all classes exist. */
  readonly classes?: readonly Pick<MachineClass, "metadata">[];
}

/** Objects as plain values that change only by patches, inside this process. */
export interface ModelCluster extends Pick<
  ModelMachines,
  "machines" | "nodes" | "machinesOf" | "nodesByMachine" | "takeChanged"
> {
  readonly hasTarget: boolean;
  readonly hasClass: (name: string) => boolean;
  readonly deployments: ReadonlyMap<string, MachineDeployment>;
  readonly sets: ReadonlyMap<string, MachineSet>;
  /** A name for a future machine; the real one is random. */
  nextName(set: string): string;
  addSet(set: MachineSet): void;
  addMachine(machine: Machine): void;
  /** The last finalizer is removed, and with it the object. */
  removeDeployment(name: string): void;
  removeSet(name: string): void;
  patchDeployment(name: string, patch: object): void;
  patchSet(name: string, patch: object): void;
  patchMachine(name: string, patch: object): void;
  patchNode(name: string, patch: object): void;
  /** Replaces the condition of that type on a node. */
  setNodeCondition(name: string, condition: NodeConditionState, now: Date): void;
  /** A provisioning machine becomes available. */
  join(name: string, now: Date): void;
  /** The machine, its VM and its node are deleted. */
  finishDeletion(name: string): void;
  /** The agent on the node of a machine reports success. */
  finishUpdate(name: string, now: Date): void;
}

const readOrThrow = <T>(read: (raw: unknown) => ReadResult<T>, raw: unknown): T => {
  const result = read(raw);
  if (!result.ok) throw new TypeError(`a decision made an invalid object: ${JSON.stringify(result.problems)}`);
  return result.value;
};

const isNode = (value: unknown): value is Node => isApiObject(value) && value.metadata.name !== undefined;

const byName = <T extends { readonly metadata: { readonly name: string } }>(objects: readonly T[]): Map<string, T> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

/** Whether a machine is being created or waits for its node. */
export const isProvisioning = (machine: Machine): boolean =>
  !isDeleting(machine) && ["", "Pending"].includes(phaseOf(machine) ?? "");

/** Makes a model of objects, which stay as they are. */
export function createModelCluster(objects: PreviewObjects): ModelCluster {
  const deployments = byName(objects.deployments);
  const sets = byName(objects.sets);
  const own = createModelMachines(objects.machines, objects.nodes ?? []);
  const { machines, nodes } = own;
  const hasTarget = objects.nodes !== undefined;
  let made = 0;

  /** An object that a patch does not change keeps its identity, so that a comparison by identity finds no change. */
  const patched = <T extends object>(object: T, patch: object, read: (raw: unknown) => ReadResult<T>): T => {
    const changed = applyMergePatch(object, patch);
    return equalJson(object, changed) ? object : readOrThrow(read, changed);
  };
  const patcher =
    <T extends object>(store: Map<string, T>, read: (raw: unknown) => ReadResult<T>) =>
    (name: string, patch: object): void => {
      const object = store.get(name);
      if (object !== undefined) store.set(name, patched(object, patch, read));
    };
  const patchMachine = (name: string, patch: object): void => {
    const machine = machines.get(name);
    if (machine !== undefined) own.put(patched(machine, patch, readMachine));
  };
  const patchNode = (name: string, patch: object): void => {
    const node = nodes.get(name);
    const changed = node === undefined ? undefined : applyMergePatch(node, patch);
    if (isNode(changed) && !equalJson(node, changed)) own.putNode(changed);
  };
  const setNodeCondition = (name: string, condition: NodeConditionState, now: Date): void => {
    const others = (nodes.get(name)?.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    patchNode(name, { status: { conditions: [...others, { ...condition, lastTransitionTime: apiTime(now) }] } });
  };
  const setPhase = (name: string, phase: MachinePhase, now: Date): void =>
    patchMachine(name, { status: { currentStatus: { phase, lastUpdateTime: apiTime(now) } } });

  return {
    hasTarget,
    hasClass: (name) => objects.classes?.some(({ metadata }) => metadata.name === name) !== false,
    deployments,
    sets,
    machines,
    nodes,
    machinesOf: own.machinesOf,
    nodesByMachine: own.nodesByMachine,
    takeChanged: own.takeChanged,
    addSet: (set) => void sets.set(set.metadata.name, set),
    addMachine: own.put,
    removeDeployment: (name) => void deployments.delete(name),
    removeSet: (name) => void sets.delete(name),
    nextName: (set) => machineNameIn(set, `new-${++made}`),
    patchDeployment: patcher(deployments, readMachineDeployment),
    patchSet: patcher(sets, readMachineSet),
    patchMachine,
    patchNode,
    setNodeCondition,
    join(name, now) {
      setPhase(name, hasTarget ? "Running" : "Available", now);
      // Without the id of a VM its deletion would lose nothing.
      if ((machines.get(name)?.spec.providerID ?? "") === "")
        patchMachine(name, { spec: { providerID: `preview://${name}` } });
      if (!hasTarget) return;
      patchMachine(name, { metadata: { labels: { [labelKeys.node]: name } } });
      if (!nodes.has(name)) own.putNode({ metadata: { name } });
    },
    finishDeletion(name) {
      own.takeNode(nodeNameOf(machines.get(name)));
      own.take(name);
    },
    finishUpdate(name, now) {
      const node = nodes.get(nodeNameOf(machines.get(name)));
      if (node === undefined) return;
      const { name: nodeName } = node.metadata;
      patchNode(nodeName, { metadata: { labels: { [labelKeys.updateResult]: updateResults.successful } } });
      const reason = inPlaceUpdateReasons.updateSuccessful;
      const message = inPlaceUpdateMessages[reason];
      setNodeCondition(nodeName, { type: nodeConditionTypes.inPlaceUpdate, status: "True", reason, message }, now);
    },
  };
}
