import { selectorMatches } from "@millwright/core";
import type { Budget, Pod } from "../model/node-objects.ts";

/**
 * Whether budgets let a pod be evicted. `waiting`: not now, but pods that are coming up will change that. `misconfigured`: all pods are healthy and still none may go, so
 * that nothing but a change of the budget or of the number of pods helps. `ambiguous`: the API server refuses to evict a pod with several budgets.
 */
export type BudgetVerdict =
  | { readonly state: "free" }
  | {
      readonly state: "waiting" | "misconfigured" | "ambiguous";
      readonly budgets: readonly string[];
      readonly message: string;
    };

const nameOf = ({ metadata }: Budget): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** The budgets that count a pod. */
export const budgetsOf = (pod: Pod, budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && selectorMatches(spec?.selector, pod.metadata.labels),
  );

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

/** The API server evicts a pod that is not ready without asking its budget when there are enough others, or when the budget says so. */
function isFreeBecauseUnready(pod: Pod, { spec, status = {} }: Budget): boolean {
  if (isReady(pod)) return false;
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** What in the budget's spec can never be satisfied, in the words of its author. */
function impossibleRule({ spec }: Budget): string | undefined {
  const { maxUnavailable, minAvailable } = spec ?? {};
  if (maxUnavailable === 0 || maxUnavailable === "0%" || maxUnavailable === "0")
    return `maxUnavailable is ${maxUnavailable}`;
  if (minAvailable === "100%") return "minAvailable is 100%";
  return undefined;
}

/** All pods are there and healthy, none is on its way out, and still none may go (MCM, `pkg/util/provider/drain/drain.go` isMisconfiguredPdb). */
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

/** Judges whether the pod may be evicted, from the budgets of its namespace as they are in the cache. The API server has the last word. */
export function judgeBudgets(pod: Pod, budgets: readonly Budget[]): BudgetVerdict {
  // Budgets count pods that run; one that never started is evicted without asking them.
  const counting = pod.status?.phase === "Pending" ? [] : budgetsOf(pod, budgets);
  const [budget] = counting;
  if (budget === undefined) return { state: "free" };
  const names = counting.map(nameOf).toSorted();
  if (counting.length > 1) {
    const message = `budgets ${names.join(" and ")} both select it, and the API server evicts no pod with more than one; change their selectors`;
    return { state: "ambiguous", budgets: names, message };
  }
  const { status = {}, metadata } = budget;
  // A status of another generation says nothing about this budget.
  const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (!isObserved || (status.disruptionsAllowed ?? 0) > 0 || isFreeBecauseUnready(pod, budget))
    return { state: "free" };
  const [name = ""] = names;
  if (isMisconfigured(budget)) {
    const rule = impossibleRule(budget);
    const why =
      rule ?? `all ${status.expectedPods ?? 0} pods are healthy and it needs ${status.desiredHealthy ?? 0} of them`;
    const message = `budget ${name} can never be met: ${why}; change it, or run more pods`;
    return { state: "misconfigured", budgets: names, message };
  }
  const missing = Math.max(1, (status.desiredHealthy ?? 0) + 1 - (status.currentHealthy ?? 0));
  const message = `budget ${name} waits for ${missing} more healthy ${missing === 1 ? "pod" : "pods"} (${status.currentHealthy ?? 0} of ${status.desiredHealthy ?? 0})`;
  return { state: "waiting", budgets: names, message };
}
