import { isRecord } from "@millwright/base";
import { labelKeys, type Machine, type NodeCondition } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import type { Node } from "../model/node-objects.ts";
import type { NodeConditionState } from "../model/node-condition.ts";
import { aNode } from "./builders.ts";

/** The nodes of a model: as they are, and as a controller sees them that has not caught up. */
export interface ModelNodes {
  readonly all: () => readonly Node[];
  /** As it is. */
  of(machine: Machine): Node | undefined;
  /** As they were seen last, by name of the machine. */
  seenOf(machines: readonly Machine[]): ReadonlyMap<string, Node>;
  /** The cache catches up with the API server. */
  catchUp(): void;
  /** The node of a machine joins, unless it is there; its name. */
  join(machine: string): string;
  leave(machine: string): void;
  /** A merge patch as the API server takes it; `false` when it was for another version. The writer sees its own write at once. */
  patch(name: string, patch: object): boolean;
  /** A patch of `status.conditions`, merged by type. */
  patchStatus(name: string, patch: object): void;
  setCondition(name: string, condition: NodeConditionState): void;
  /** Another client changes the node: an agent, a user. The controller does not see it before the cache catches up. */
  changeUnseen(name: string, patch: object): void;
}

const nameOf = (machine: string): string => `node-of-${machine}`;

const isNode = (value: unknown): value is Node => isRecord(value) && isRecord(value["metadata"]);
const conditionsIn = (patch: object): readonly NodeCondition[] =>
  "conditions" in patch && Array.isArray(patch.conditions) ? patch.conditions : [];

export function createModelNodes(): ModelNodes {
  const nodes = new Map<string, Node>();
  const seen = new Map<string, Node>();
  let version = 0;

  const store = (name: string, node: unknown, isSeen: boolean): void => {
    if (!isNode(node)) throw new TypeError(`a patch made something of ${name} that is no node`);
    const stored = { ...node, metadata: { ...node.metadata, resourceVersion: String(++version) } };
    nodes.set(name, stored);
    if (isSeen) seen.set(name, stored);
  };
  const nodeOf = (name: string): Node | undefined => nodes.get(name);
  const patchStatus = (name: string, patch: object): void => {
    const node = nodeOf(name);
    if (node === undefined) return;
    const patched = conditionsIn(patch);
    const others = (node.status?.conditions ?? []).filter(({ type }) => !patched.some((each) => each.type === type));
    store(name, { ...node, status: { ...node.status, conditions: [...others, ...patched] } }, true);
  };
  const labelOf = ({ metadata }: Machine): string => metadata.labels?.[labelKeys.node] ?? "";

  return {
    all: () => [...nodes.values()],
    of: (machine) => nodeOf(labelOf(machine)),
    seenOf: (machines) =>
      new Map(
        machines.flatMap((machine): [string, Node][] => {
          const node = seen.get(labelOf(machine));
          return node === undefined ? [] : [[machine.metadata.name, node]];
        }),
      ),
    catchUp() {
      seen.clear();
      for (const [name, node] of nodes) seen.set(name, node);
    },
    join(machine) {
      const name = nameOf(machine);
      if (!nodes.has(name)) store(name, aNode({ metadata: { name } }), true);
      return name;
    },
    leave(machine) {
      nodes.delete(nameOf(machine));
      seen.delete(nameOf(machine));
    },
    patch(name, patch) {
      const node = nodeOf(name);
      if (node === undefined) return true;
      const { metadata } = { metadata: {}, ...patch };
      const wanted = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
      if (wanted !== undefined && wanted !== node.metadata.resourceVersion) return false;
      store(name, applyMergePatch(node, patch), true);
      return true;
    },
    patchStatus,
    setCondition(name, condition) {
      patchStatus(name, { conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }] });
    },
    changeUnseen(name, patch) {
      const node = nodeOf(name);
      if (node !== undefined) store(name, applyMergePatch(node, patch), false);
    },
  };
}
