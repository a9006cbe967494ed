import type { Machine } from "@millwright/core/machine-api";
import type { Node } from "../../model/node-objects.ts";
import type { NodesOfMachines } from "../../cluster/nodes-of-machines.ts";
import { inDeletionOrder } from "../../machine-set/deletion-order.ts";
import { isAvailable } from "../../model/phase.ts";
import { type SetView, recoveredSize } from "../state/set-size.ts";
import type { InPlaceSet, UpdatableMachine } from "./plan-in-place.ts";
import { readUpdateNote, updateStateOf } from "./update-state.ts";

function viewOf(machine: Machine, node: Node | undefined, target: string): UpdatableMachine {
  const state = updateStateOf(machine, node, target);
  const updatedFor = state === "outdated" && node !== undefined ? readUpdateNote(node)?.set : undefined;
  return {
    name: machine.metadata.name,
    state,
    isAvailable: isAvailable(machine),
    ...(updatedFor === undefined ? {} : { updatedFor }),
  };
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
