import { legacyConditionTypes, legacyReasons, specValidConditionType } from "@millwright/core/machine-api";
import { type ApiObject, type Condition, cutText, findCondition } from "@millwright/kube";

/** The request for one machine that the API server rejected last, by MCM's conditions of its owner: `last creation failed: …`; at most one. */
export function rejectedRequests(
  conditions: readonly Condition[],
  request: "creation" | "deletion",
): readonly string[] {
  const { status, reason, message = "" } = findCondition(conditions, legacyConditionTypes.replicaFailure) ?? {};
  if (status !== "True" || (reason === legacyReasons.failedDelete) !== (request === "deletion")) return [];
  return [`last ${request} failed: ${cutText(message)}`];
}

/** That nothing is scaled since the spec is invalid; at most one. What is being deleted needs no valid spec. */
export function invalidSpecBlock(
  { metadata }: Pick<ApiObject, "metadata">,
  conditions: readonly Condition[],
): readonly string[] {
  if (metadata.deletionTimestamp != null) return [];
  const { status } = findCondition(conditions, specValidConditionType) ?? {};
  return status === "False" ? ["the spec is not valid: see SpecValid"] : [];
}
