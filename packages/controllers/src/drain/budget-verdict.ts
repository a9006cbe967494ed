import { selectorMatches } from "@millwright/core";
import type { Budget, Pod } from "../model/node-objects.ts";

/**
 * Whether budgets allow the eviction of a pod. `waiting`: not now, but once other pods are healthy. `misconfigured`: all pods are healthy and still none may be evicted, so
 * that the budget or the number of pods has to change. `ambiguous`: the API server rejects evictions of a pod with several budgets.
 */
export type BudgetVerdict =
  | { readonly state: "free" }
  | {
      readonly state: "waiting" | "misconfigured" | "ambiguous";
      readonly budgets: readonly string[];
      readonly message: string;
    };

const nameOf = ({ metadata }: Budget): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** The budgets that select a pod. */
export const budgetsOf = (pod: Pod, budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && selectorMatches(spec?.selector, pod.metadata.labels),
  );

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

/** The API server evicts an unready pod regardless of its budget when enough others are healthy, or when the budget allows it. */
function isFreeBecauseUnready(pod: Pod, { spec, status = {} }: Budget): boolean {
  if (isReady(pod)) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** The field of the budget that can never be satisfied, if there is one. */
function impossibleRule({ spec }: Budget): string | undefined {
  const { maxUnavailable, minAvailable } = spec ?? {};
  if (maxUnavailable === 0 || maxUnavailable === "0%" || maxUnavailable === "0")
    return `maxUnavailable is ${maxUnavailable}`;
  if (minAvailable === "100%") return "minAvailable is 100%";
  return undefined;
}

/** All pods exist and are healthy, none is terminating, and still none may be evicted (MCM, `pkg/util/provider/drain/drain.go` isMisconfiguredPdb). */
function isMisconfigured({ metadata, status = {} }: Budget): boolean {
  const {
    observedGeneration,
    expectedPods = 0,
    currentHealthy = 0,
    disruptionsAllowed = 0,
    disruptedPods = {},
  } = status;
  return (
    (metadata.generation ?? 0) === (observedGeneration ?? 0) &&
    expectedPods > 0 &&
    currentHealthy >= expectedPods &&
    Object.keys(disruptedPods).length === 0 &&
    disruptionsAllowed <= 0
  );
}

/** Judges whether the pod may be evicted, from the cached budgets of its namespace. The API server decides. */
export function judgeBudgets(pod: Pod, budgets: readonly Budget[]): BudgetVerdict {
  // Budgets count running pods; a pod that never started is evicted regardless.
  const counting = pod.status?.phase === "Pending" ? [] : budgetsOf(pod, budgets);
  const [budget] = counting;
  if (budget === undefined) return { state: "free" };
  const names = counting.map(nameOf).toSorted();
  if (counting.length > 1) {
    const message = `PodDisruptionBudgets ${names.join(" and ")} both select the pod, and the API server evicts no pod with more than one; change their selectors`;
    return { state: "ambiguous", budgets: names, message };
  }
  const { status = {}, metadata } = budget;
  // The status of another generation does not describe this budget.
  const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (!isObserved || (status.disruptionsAllowed ?? 0) > 0 || isFreeBecauseUnready(pod, budget))
    return { state: "free" };
  const [name = ""] = names;
  if (isMisconfigured(budget)) {
    const rule = impossibleRule(budget);
    const why =
      rule ?? `all ${status.expectedPods ?? 0} pods are healthy and it requires ${status.desiredHealthy ?? 0} of them`;
    const message = `PodDisruptionBudget ${name} can never be met: ${why}; change it, or run more pods`;
    return { state: "misconfigured", budgets: names, message };
  }
  const missing = Math.max(1, (status.desiredHealthy ?? 0) + 1 - (status.currentHealthy ?? 0));
  const message = `PodDisruptionBudget ${name} needs ${missing} more healthy ${missing === 1 ? "pod" : "pods"} (${status.currentHealthy ?? 0} of ${status.desiredHealthy ?? 0})`;
  return { state: "waiting", budgets: names, message };
}
