import {
  deletionProtectedConditionType as type,
  deletionProtectedReasons as reasons,
  type MachineDeployment,
} from "@millwright/core";
import type { ConditionState } from "@millwright/kube";
import { isProtected, protectedOwnerMessage } from "../model/deletion-protection.ts";

/** The condition DeletionProtected of a deployment that is terminating and protected. */
export function protectedState({ metadata }: MachineDeployment): ConditionState | undefined {
  if (metadata.deletionTimestamp == null || !isProtected({ metadata })) return undefined;
  const message = protectedOwnerMessage({ kind: "MachineDeployment", name: metadata.name });
  return { type, status: "True", reason: reasons.objectProtected, message };
}
