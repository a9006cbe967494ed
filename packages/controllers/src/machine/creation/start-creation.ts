import { isProvisioningVm, type MachineClass } from "@millwright/core";
import type { MachineAction } from "../decision.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { type CreationIntent, intentAnnotation, intentFor, isStored } from "./intent.ts";

/** The lane of a class: one class in one zone, for that is what runs out of capacity. */
export const laneOf = ({ metadata, nodeTemplate }: MachineClass): string =>
  `${metadata.name}/${nodeTemplate?.zone ?? ""}`;

/** The intent that a creation begun now would have; `undefined` while its class cannot be used. */
export function plannedIntent({
  machine,
  classView,
  wantsToken,
  operation,
}: MachineSnapshot): CreationIntent | undefined {
  if (classView.state === "unusable") return undefined;
  const isSpent = operation?.kind === "create" && operation.state === "failed" && operation.isTokenSpent === true;
  return intentFor(machine, classView.machineClass, { wantsToken, isSpent });
}

/** Asks the driver for a VM. What is about to be asked is on the machine before: in the same decision, and in its own write only when it is not there yet. */
export function startCreation(
  snapshot: MachineSnapshot,
  machineClass: MachineClass,
  intent: CreationIntent,
): readonly MachineAction[] {
  const { machine, operation } = snapshot;
  const { uid } = machine.metadata;
  const patch = { metadata: { ...(uid === undefined ? {} : { uid }), annotations: intentAnnotation(intent) } };
  const isAccepted =
    isProvisioningVm(machine.status?.lastOperation) || (operation?.kind === "create" && operation.state === "pending");
  const isRepeated = (machine.status?.lastOperation?.errorCode ?? "") !== "";
  return [
    ...(isStored(machine, intent) ? [] : [{ kind: "PatchMachine", patch } as const]),
    {
      kind: "StartOperation",
      operation: "create",
      token: intent.token,
      lane: { name: laneOf(machineClass), isRepeated, ...(isAccepted ? { isAccepted } : {}) },
    },
  ];
}

/** Asks for the VM of a machine whose class can be used; of another one nothing is asked. */
export function beginCreation(snapshot: MachineSnapshot): readonly MachineAction[] {
  const intent = plannedIntent(snapshot);
  const { classView } = snapshot;
  return intent === undefined || classView.state === "unusable"
    ? []
    : startCreation(snapshot, classView.machineClass, intent);
}
