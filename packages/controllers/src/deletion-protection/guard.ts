import type { Machine } from "@millwright/core/machine-api";
import type { ControllerContext } from "../cluster/context.ts";
import { protectionHold } from "../model/deletion-protection.ts";
import type { Guard } from "../model/hold.ts";
import { markedStage } from "../model/phase.ts";
import type { OperationView } from "../model/operation.ts";
import { createMachineProtection, watchProtection } from "./machine-protection.ts";

/** Whether the VM of a terminating machine may still be kept: its deletion is neither requested nor done. Otherwise there is nothing left to protect. */
function isVmKept(machine: Machine, operation: OperationView | undefined): boolean {
  const stage = markedStage({ machine });
  if (stage === "DeleteNode" || stage === "RemoveFinalizer") return false;
  return operation?.kind !== "delete" || operation.state === "failed";
}

/**
 * Holds the deletion of Machines that are protected, by themselves or by their deployment. It stays at the stage that it has reached, and the Machine is Terminating: its set does not count it any more, and MCM
 * would continue.
 *
 * @param operationOf the driver call of a machine, by its UID
 */
export function protectionGuard(
  context: Pick<ControllerContext, "caches" | "namespace" | "control">,
  operationOf: (uid: string) => OperationView | undefined,
): Guard<Machine> {
  const protection = createMachineProtection(context);
  return {
    name: "protection",
    of(machine) {
      const view = protection.of(machine);
      if (view.state === "unprotected" || !isVmKept(machine, operationOf(machine.metadata.uid ?? ""))) return "proceed";
      return view.state === "protected" ? protectionHold(view.by) : { read: () => protection.refresh(machine) };
    },
    onChange: (listener) => watchProtection(context, listener),
    forget: (uid) => protection.forget(uid),
  };
}
