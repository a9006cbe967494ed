import type { Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { isTargetUnread } from "../cluster/unread-target.ts";
import { crdGuardOfMachines } from "../crd-guard/guard.ts";
import { budgetGuard } from "../deletion-budget/guard.ts";
import { protectionGuard } from "../deletion-protection/guard.ts";
import type { Guard } from "../model/hold.ts";
import type { OperationView } from "../model/operation.ts";
import type { VmHolder, VmOwners } from "../model/vm-holder.ts";
import { lostOwnerGuard } from "./lost-owner.ts";
import { conflictGuard } from "./conflict.ts";
import { unreadTargetGuard } from "./unread-target.ts";

/** What the guards of Machines need besides the context. */
export interface MachineGuardSources {
  /** The driver call of a machine, by its UID. */
  readonly operationOf: (uid: string) => OperationView | undefined;
  /** The other Machine to which the VM of a machine belongs. */
  readonly holderOf: (machine: Machine) => VmHolder | undefined;
  readonly vmOwners?: Pick<VmOwners, "onChange"> | undefined;
}

/**
 * All reasons not to act on a Machine, in the order in which they apply: what concerns everyone's data before what a person protected, that before what can be approved, and last what only waits. A new one is a
 * folder that exports a guard, and a line here.
 */
export const machineGuards = (
  context: ControllerContext,
  { operationOf, holderOf, vmOwners }: MachineGuardSources,
): readonly Guard<Machine>[] => [
  ...(context.crdGuard === undefined ? [] : [crdGuardOfMachines(context.crdGuard, context.caches.machines.store)]),
  protectionGuard(context, operationOf),
  lostOwnerGuard(context),
  ...(context.deletionBudget === undefined ? [] : [budgetGuard(context.deletionBudget)]),
  unreadTargetGuard(() => isTargetUnread(context)),
  conflictGuard(holderOf, (listener) =>
    vmOwners?.onChange((key) => {
      const machine = context.caches.machines.store.get(key);
      if (machine !== undefined) listener(machine);
    }),
  ),
];

/** Uses what the guards ration that an object has passed: those before the one that holds it, or all. */
export function enterGuards<T>(guards: readonly Guard<T>[], object: T, by: string | undefined): void {
  for (const guard of guards) {
    if (guard.name === by) return;
    guard.enter?.(object);
  }
}
