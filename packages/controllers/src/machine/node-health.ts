import { type NodeCondition, nodeConditionTypes } from "@millwright/core";

/** The conditions of a node that make its machine unhealthy, as short texts in a stable order. */
export function unhealthyConditions(
  conditions: readonly NodeCondition[],
  badUnlessFalse: readonly string[],
): readonly string[] {
  const ready = conditions.find(({ type }) => type === "Ready");
  const bad = conditions.filter(({ type, status }) => badUnlessFalse.includes(type) && status !== "False");
  return [
    // A node that never reported Ready is not healthy either, unlike in the Go implementation (machine-controller.md, F24).
    ...(ready?.status === "True" ? [] : [`Ready is ${ready?.status ?? "missing"}`]),
    ...bad.map(({ type, status }) => `${type} is ${status}`).toSorted(),
  ];
}

/** Whether two lists of conditions say the same: heartbeats, messages and reasons are no news, except the stage of an in-place update. */
export function isSameHealth(a: readonly NodeCondition[], b: readonly NodeCondition[]): boolean {
  const key = ({ type, status, reason = "" }: NodeCondition): string =>
    type === nodeConditionTypes.inPlaceUpdate ? `${type}=${status}/${reason}` : `${type}=${status}`;
  const keys = (list: readonly NodeCondition[]): string => list.map(key).toSorted().join(",");
  return keys(a) === keys(b);
}
