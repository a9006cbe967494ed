import { clusterApiReasons as reasons } from "@millwright/core/machine-api";
import type { ConditionState } from "@millwright/kube";

/** A condition that depends on a spec that cannot be read: Unknown, rather than the result for an empty spec. */
export const unreadable = (type: string): ConditionState => ({
  type,
  status: "Unknown",
  reason: reasons.inspectionFailed,
  message: "The spec cannot be read",
});
