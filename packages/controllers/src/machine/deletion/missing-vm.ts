import { deletionEvents, nodeConditionTypes } from "@millwright/core";
import { conditionOf } from "../../model/node-condition.ts";
import type { OperationView } from "../../model/operation.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { isForceDeletion } from "../../model/force-deletion.ts";

type Ended = Extract<OperationView, { readonly state: "done" | "failed" }>;

/** A deletion that found no VM; `undefined` for any other operation. */
export function deletionWithoutVm(operation: OperationView | undefined): Ended | undefined {
  if (operation?.kind !== "delete") return undefined;
  if (operation.state === "failed") return operation.code === "NotFound" ? operation : undefined;
  return operation.state === "done" && operation.result.isMissing === true ? operation : undefined;
}

/**
 * Why it is doubtful that a VM which was not found is gone: then it would go on running without a Machine. A class or a Secret that was changed lets a driver look in another account or region. A
 * kubelet that is gone is no longer Ready within a minute, so a deletion goes on by itself then.
 */
export function doubtAboutMissingVm({ machine, node, classView }: MachineSnapshot): string | undefined {
  if (isForceDeletion(machine)) return undefined;
  const { providerID: vm = "", class: { name: className = "" } = {} } = machine.spec;
  if (node !== undefined && conditionOf(node, nodeConditionTypes.ready)?.status === "True")
    return deletionEvents.vmNotFoundOfReadyNode(vm, node.metadata.name);
  const used = classView.state === "usable" ? classView.machineClass.metadata.name : className;
  return used === className ? undefined : deletionEvents.vmNotFoundByFallback(vm, className, used);
}
