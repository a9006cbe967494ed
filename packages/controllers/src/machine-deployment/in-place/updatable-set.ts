import type { Machine } from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import { inDeletionOrder } from "../../machine-set/deletion-order.ts";
import { isAvailable } from "../../model/phase.ts";
import { type SetView, recoveredSize } from "../state/set-size.ts";
import type { InPlaceSet, UpdatableMachine } from "./plan-in-place.ts";
import { readUpdateNote, updateStateOf } from "./update-state.ts";

/** The view of a machine, and what it was computed from. */
interface Viewed {
  readonly node: Node | undefined;
  readonly target: string;
  readonly view: UpdatableMachine;
}

/** Objects are immutable, and few of a large deployment change between two reconciles. */
const viewed = new WeakMap<Machine, Viewed>();

function viewOf(machine: Machine, node: Node | undefined, target: string): UpdatableMachine {
  const before = viewed.get(machine);
  if (before !== undefined && before.node === node && before.target === target) return before.view;
  const updatedFor = node === undefined ? undefined : readUpdateNote(node)?.set;
  const view = {
    name: machine.metadata.name,
    state: updateStateOf(machine, node, target),
    isAvailable: isAvailable(machine),
    ...(updatedFor === undefined ? {} : { updatedFor }),
  };
  viewed.set(machine, { node, target, view });
  return view;
}

/**
 * A set with its machines in the order of deletion, which is the order of updates.
 *
 * @param nodes absent without a target cluster
 * @param target name of the set of the current template
 */
export function updatableSet(view: SetView, nodes: NodesOfMachines | undefined, target: string, now: Date): InPlaceSet {
  const machines = inDeletionOrder(view.machines, now).map((machine) =>
    viewOf(machine, nodes?.get(machine.metadata.name), target),
  );
  return { ...recoveredSize(view), machines };
}
