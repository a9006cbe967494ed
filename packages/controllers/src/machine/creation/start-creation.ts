import type { Machine, MachineClass } from "@millwright/core/machine-api";
import type { MachineAction } from "../state/decision.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { type CreationIntent, intentAnnotation, intentFor, isStored } from "../../model/creation-intent.ts";
import { isRejected } from "../../model/operation.ts";
import { isProvisioningVm } from "../../model/provisioning.ts";
import { statusOf } from "../../model/status-change.ts";

/**
 * The launch group of a machine: machines that share quota and capacity, by class and the node annotations by which MCM's AWS driver
 * selects another zone, host or tenancy (`placement` in providers/aws/README.md).
 */
export function launchGroupOf({ spec }: Machine, { metadata }: MachineClass): string {
  const annotations = Object.entries(spec.nodeTemplate?.metadata?.annotations ?? {}).map(
    ([key, value]) => `${key}=${value}`,
  );
  return [metadata.name, ...annotations.toSorted()].join("/");
}

/** The intent of a creation that would start now; `undefined` while the class is unusable. */
export function plannedIntent(snapshot: MachineSnapshot): CreationIntent | undefined {
  const { machine, classView, wantsToken, operation } = snapshot;
  if (classView.state === "unusable") return undefined;
  const isSpent = operation?.state === "failed" && isRejected(operation);
  return intentFor(machine, classView.machineClass, { wantsToken, isSpent });
}

/** Requests the VM of a machine with a usable class; no actions otherwise. The intent is stored first, in the same decision, and only written when it is not stored yet. */
export function beginCreation(snapshot: MachineSnapshot): readonly MachineAction[] {
  const { machine, operation, classView } = snapshot;
  const intent = plannedIntent(snapshot);
  if (intent === undefined || classView.state === "unusable") return [];
  const { uid } = machine.metadata;
  const patch = { metadata: { ...(uid === undefined ? {} : { uid }), annotations: intentAnnotation(intent) } };
  const isAccepted =
    isProvisioningVm(statusOf(machine)) || (operation?.kind === "create" && operation.state === "pending");
  const isRepeated = (machine.status?.lastOperation?.errorCode ?? "") !== "";
  return [
    ...(isStored(machine, intent) ? [] : [{ kind: "PatchMachine", patch } as const]),
    {
      kind: "StartOperation",
      operation: "create",
      token: intent.token,
      launch: {
        name: launchGroupOf(machine, classView.machineClass),
        isRepeated,
        ...(isAccepted ? { isAccepted } : {}),
      },
    },
  ];
}
