import {
  deletionProtectedConditionType as type,
  deletionProtectedReasons as reasons,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core";
import { type ConditionState, findCondition } from "@millwright/kube";
import { isProtected, protectedOwnerMessage } from "../model/deletion-protection.ts";

/** The condition DeletionProtected of a deployment that is terminating and protected. */
export function protectedState({ metadata }: MachineDeployment): ConditionState | undefined {
  if (metadata.deletionTimestamp == null || !isProtected({ metadata })) return undefined;
  const message = protectedOwnerMessage({ kind: "MachineDeployment", name: metadata.name });
  return { type, status: "True", reason: reasons.objectProtected, message };
}

/** The condition DeletionProtected of the first set that has one. */
export function protectedStateOfSets(sets: readonly MachineSet[]): ConditionState | undefined {
  for (const { status } of sets) {
    const found = findCondition(status?.machineSetCondition ?? [], type);
    if (found?.status === "True")
      return { type, status: "True", reason: found.reason ?? "", message: found.message ?? "" };
  }
  return undefined;
}
