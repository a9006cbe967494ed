import { clusterApiReasons as reasons } from "@millwright/core";
import type { ConditionState } from "@millwright/kube";

/** What a condition says that depends on a spec which cannot be read: nothing, rather than something about an empty one. */
export const unreadable = (type: string): ConditionState => ({
  type,
  status: "Unknown",
  reason: reasons.inspectionFailed,
  message: "The spec cannot be read",
});
