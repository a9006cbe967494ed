import { finalizers, type MachineClass } from "@millwright/core";
import type { Decision } from "../decision.ts";

/** What a pass over a MachineClass sees. */
export interface MachineClassSnapshot {
  readonly machineClass: MachineClass;
  /** Machines that refer to the class. */
  readonly machines: number;
}

/** Everything that a MachineClass does to the world. */
export type MachineClassAction = { readonly kind: "AddFinalizer" } | { readonly kind: "RemoveFinalizer" };

/** Keeps a class as long as a machine needs it, for only the class says how the VM is deleted; a class without machines carries no finalizer. */
export function decideMachineClass({
  machineClass,
  machines,
}: MachineClassSnapshot): Decision<MachineClassAction, never> {
  const { metadata } = machineClass;
  const isHeld = metadata.finalizers?.includes(finalizers.machine) === true;
  if (machines > 0 && !isHeld && metadata.deletionTimestamp === undefined)
    return { actions: [{ kind: "AddFinalizer" }], because: [] };
  if (machines === 0 && isHeld) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  return { actions: [], because: [] };
}
