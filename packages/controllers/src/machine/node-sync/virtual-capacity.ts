import { isSameQuantity, type MachineClass } from "@millwright/core/machine-api";
import { readLastCapacity } from "../../model/last-applied.ts";
import { type Texts, type TextsPatch, threeWayPatch } from "./three-way.ts";

/**
 * Whether a resource may be set by a controller: one with a domain that is not Kubernetes' own. The kubelet reports all others and would overwrite them
 * forever.
 */
function isExtendedResource(name: string): boolean {
  const [domain = "", ...rest] = name.split("/");
  return rest.length === 1 && domain !== "" && !/(^|\.)kubernetes\.io$/.test(domain);
}

/** The virtual capacity that a class declares. */
export const virtualCapacityOf = ({ nodeTemplate }: MachineClass): Texts =>
  Object.fromEntries(
    Object.entries(nodeTemplate?.virtualCapacity ?? {})
      .filter(([name]) => isExtendedResource(name))
      .map(([name, amount]) => [name, String(amount)]),
  );

/** Changes of a node for its virtual capacity. */
export interface CapacityChange {
  /** Amounts for `status.capacity`; `undefined` when they are correct. */
  readonly capacity: TextsPatch | undefined;
  /** The new value of the annotation; `undefined` when it is correct. */
  readonly applied: Texts | undefined;
  readonly isUnreadable: boolean;
}

/**
 * Compares the virtual capacity of a node with the desired one. Annotation and status are two requests, in this order. To survive a crash between
 * them, the annotation names a resource before it is set, and as long as it exists.
 */
export function capacityChange(
  annotations: Texts | undefined,
  live: Texts | undefined,
  desired: Texts,
): CapacityChange {
  const last = readLastCapacity(annotations);
  const mayRemove = Object.fromEntries(Object.entries(last.value).filter(([name]) => isExtendedResource(name)));
  const capacity = threeWayPatch(live, mayRemove, desired, isSameQuantity);
  const leaving = Object.fromEntries(Object.entries(mayRemove).filter(([name]) => capacity?.[name] === null));
  const applied = { ...leaving, ...desired };
  const isRecorded = !last.isUnreadable && threeWayPatch(last.value, last.value, applied, isSameQuantity) === undefined;
  return { capacity, applied: isRecorded ? undefined : applied, isUnreadable: last.isUnreadable };
}
