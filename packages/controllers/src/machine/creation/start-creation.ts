import { isProvisioningVm, type Machine, type MachineClass } from "@millwright/core";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { type CreationIntent, intentAnnotation, intentFor, isStored } from "../../model/creation-intent.ts";

/**
 * The lane of a machine, shared by those that ask the cloud for the same and so run out of the same quota and capacity: class, instance type, zone, and the annotations of the node, by which MCM's driver of AWS
 * is asked for another zone, host or tenancy (`placement` in providers/aws/README.md).
 */
export function launchGroupOf({ spec }: Machine, { metadata, nodeTemplate }: MachineClass): string {
  const annotations = Object.entries(spec.nodeTemplate?.metadata?.annotations ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  return [metadata.name, nodeTemplate?.instanceType ?? "", nodeTemplate?.zone ?? "", ...annotations.toSorted()].join(
    "/",
  );
}

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
      launch: { name: launchGroupOf(machine, machineClass), isRepeated, ...(isAccepted ? { isAccepted } : {}) },
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
