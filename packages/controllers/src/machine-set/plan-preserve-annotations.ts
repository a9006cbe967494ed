import { annotationKeys, type Machine, type MachineSet, preserveValues } from "@millwright/core/machine-api";
import type { NodesOfMachines } from "../cluster/nodes-of-machines.ts";
import { isDeleting, isFailed } from "../model/phase.ts";
import { countWhere, type MachineList, machinesWhere } from "../machine-lists/machine-list.ts";
import { isNodeInControl, preserveValueOf, preserveAnnotationsOf } from "../model/preserve-value.ts";
import { olderFirst } from "./deletion-order.ts";

/** Machines by name, with the new value of their annotation `preserve`; null removes it. */
export type AutoPreservation = ReadonlyMap<string, typeof preserveValues.autoPreserved | null>;

const isAutoPreserved = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[annotationKeys.preserve] === preserveValues.autoPreserved;

/** Machines that were preserved by a set and not by users, whatever their phase. */
export const countAutoPreserved = (machines: MachineList): number => countWhere(machines, isAutoPreserved);

/**
 * Whether a Failed machine may be preserved automatically: no annotation applies to it. Where the node decides, an annotation of the
 * machine has no effect; and a machine whose preservation has started, or has ended, is not preserved again.
 */
function isCandidate(machine: Machine, nodes: NodesOfMachines): boolean {
  if (isDeleting(machine)) return false;
  if (machine.status?.currentStatus?.preserveExpiryTime != null) return false;
  const requested = preserveAnnotationsOf(machine, nodes.get(machine.metadata.name));
  return !isNodeInControl(requested) && preserveValueOf(requested) === "";
}

/**
 * Which machines a set preserves by itself because they failed, up to `spec.autoPreserveFailedMachineMax`, and which it no longer does because the
 * number was lowered (MCM, `pkg/controller/machineset.go` manageAutoPreservationOfFailedMachines). The newest failures are kept, because they show what is wrong now; the oldest are released
 * first. Existing machines are counted, and not the status of the last reconcile.
 */
export function planAutoPreservation(
  set: MachineSet,
  owned: MachineList,
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
  // A terminating machine counts until it is deleted; removing its annotation frees no place.
  const oldestFirst = machinesWhere(owned, isAutoPreserved)
    .filter((machine) => !isDeleting(machine))
    .toSorted(olderFirst);
  return new Map(oldestFirst.slice(0, -room).map(({ metadata }) => [metadata.name, null]));
}

/** The machine after the plan. */
export function withPreservation(machine: Machine, plan: AutoPreservation): Machine {
  const value = plan.get(machine.metadata.name);
  if (value === undefined) return machine;
  const { [annotationKeys.preserve]: _, ...others } = machine.metadata.annotations ?? {};
  const annotations = value === null ? others : { ...others, [annotationKeys.preserve]: value };
  return { ...machine, metadata: { ...machine.metadata, annotations } };
}
