import { annotationKeys, type Machine, type MachineSet, preserveValues } from "@millwright/core";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { isDeleting, isFailed } from "../model/phase.ts";
import { countWhere, machinesWhere } from "../machine-lists/machines-where.ts";
import { isNodeInControl, preserveValueOf, preserveAnnotationsOf } from "../model/preserve-value.ts";
import { olderFirst } from "./deletion-order.ts";

/** Machines by name, with what their annotation `preserve` becomes; null takes it away. */
export type AutoPreservation = ReadonlyMap<string, typeof preserveValues.autoPreserved | null>;

const isAutoPreserved = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[annotationKeys.preserve] === preserveValues.autoPreserved;

/** Machines that were preserved by a set and not by people, whatever their phase. */
export const countAutoPreserved = (machines: readonly Machine[]): number => countWhere(machines, isAutoPreserved);

/**
 * Whether a machine that is Failed may be preserved without being asked: nobody has said anything about it. Where the node decides, an annotation of the
 * machine has no effect; and one whose preservation has begun, or is over, is not given another.
 */
function isCandidate(machine: Machine, nodes: NodesOfMachines): boolean {
  if (isDeleting(machine)) return false;
  if (machine.status?.currentStatus?.preserveExpiryTime != null) return false;
  const wishes = preserveAnnotationsOf(machine, nodes.get(machine.metadata.name));
  return !isNodeInControl(wishes) && preserveValueOf(wishes) === "";
}

/**
 * Which machines a set preserves by itself because they failed, up to `spec.autoPreserveFailedMachineMax`, and which it no longer does because the
 * number was lowered (MCM, `pkg/controller/machineset.go` manageAutoPreservationOfFailedMachines). The newest failures are kept, for they tell of what is wrong now; the oldest are let go
 * first. Counted are the machines that exist and not what the last pass noted in the status.
 */
export function planAutoPreservation(
  set: MachineSet,
  owned: readonly Machine[],
  nodes: NodesOfMachines = new Map(),
): AutoPreservation {
  const room = (set.spec.autoPreserveFailedMachineMax ?? 0) - countAutoPreserved(owned);
  if (room > 0) {
    const newestFirst = machinesWhere(owned, isFailed)
      .filter((machine) => isCandidate(machine, nodes))
      .toSorted((a, b) => olderFirst(b, a));
    return new Map(newestFirst.slice(0, room).map(({ metadata }) => [metadata.name, preserveValues.autoPreserved]));
  }
  if (room === 0) return new Map();
  // One that is going has a place until it is gone, and gives none back by being told so.
  const oldestFirst = machinesWhere(owned, isAutoPreserved)
    .filter((machine) => !isDeleting(machine))
    .toSorted(olderFirst);
  return new Map(oldestFirst.slice(0, -room).map(({ metadata }) => [metadata.name, null]));
}

/** The machine as it is once the plan is carried out. */
export function withPreservation(machine: Machine, plan: AutoPreservation): Machine {
  const value = plan.get(machine.metadata.name);
  if (value === undefined) return machine;
  const { [annotationKeys.preserve]: _, ...others } = machine.metadata.annotations ?? {};
  const annotations = value === null ? others : { ...others, [annotationKeys.preserve]: value };
  return { ...machine, metadata: { ...machine.metadata, annotations } };
}
