import { annotationKeys, defaultMachinePriority, labelKeys } from "@millwright/core";
import type { MachineAction } from "./decision.ts";
import type { OperationResult } from "./operation.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/**
 * Stores the id of a VM and the name of its node on the machine, and lets go of the call that found them out. The UID makes the patch
 * conditional: another machine of the same name never gets this VM.
 */
export function recordIds(
  { machine, hasTarget }: Pick<MachineSnapshot, "machine" | "hasTarget">,
  { providerId = "", nodeName = "" }: OperationResult,
): readonly MachineAction[] {
  const { uid, annotations } = machine.metadata;
  const priority = annotations?.[annotationKeys.machinePriority];
  const patch = {
    metadata: {
      ...(uid === undefined ? {} : { uid }),
      ...(hasTarget ? { labels: { [labelKeys.node]: nodeName } } : {}),
      ...(priority === undefined || priority === ""
        ? { annotations: { [annotationKeys.machinePriority]: String(defaultMachinePriority) } }
        : {}),
    },
    spec: { providerID: providerId },
  };
  return [{ kind: "PatchMachine", patch }, { kind: "AcknowledgeOperation" }];
}
