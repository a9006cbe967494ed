import { selectorMatches } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { Budget, Pod } from "../model/node-objects.ts";

/**
 * Whether budgets allow the eviction of a pod. `waiting`: not now, but once other pods are healthy. `misconfigured`: never, whatever the health of the pods, so
 * that the budget or the number of pods has to change. `ambiguous`: the API server rejects evictions of a pod with several budgets.
 */
export type BudgetVerdict =
  | { readonly state: "free" }
  | {
      readonly state: "waiting" | "misconfigured" | "ambiguous";
      readonly budgets: readonly string[];
      readonly message: string;
    };

/** Namespace and name of a budget. */
export const nameOf = ({ metadata }: Budget): string => `${metadata.namespace ?? ""}/${metadata.name}`;

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

/** Why a budget never allows a disruption, and what helps. */
interface Impossibility {
  readonly why: string;
  readonly remedy: string;
}

/** The field of the spec that leaves no pod to evict. */
function impossibleField({ spec, status = {} }: Budget): Impossibility | undefined {
  const { maxUnavailable, minAvailable } = spec ?? {};
  const { expectedPods = 0 } = status;
  if (maxUnavailable === 0 || maxUnavailable === "0%" || maxUnavailable === "0")
    return { why: `maxUnavailable is ${maxUnavailable}`, remedy: "set it to 1 or more" };
  if (minAvailable === "100%") return { why: "minAvailable is 100%", remedy: "set maxUnavailable: 1 instead" };
  if (typeof minAvailable === "number" && minAvailable >= expectedPods)
    return {
      why: `minAvailable is ${minAvailable} of ${expectedPods} ${expectedPods === 1 ? "pod" : "pods"}`,
      remedy: "lower it, or run more pods",
    };
  return undefined;
}

/** The condition that reports that the disruption controller cannot count the pods. */
const countFailure = ({ status }: Budget): { readonly message?: string } | undefined =>
  status?.conditions?.find(
    ({ type, status: value, reason }) => type === "DisruptionAllowed" && value === "False" && reason === "SyncFailed",
  );

/** Whether all pods exist and are healthy, and none is terminating (MCM, `pkg/util/provider/drain/drain.go` isMisconfiguredPdb). */
const isAtBest = ({
  expectedPods = 0,
  currentHealthy = 0,
  disruptedPods = {},
}: NonNullable<Budget["status"]>): boolean => currentHealthy >= expectedPods && Object.keys(disruptedPods).length === 0;

/**
 * Why the budget allows no disruption whatever the health of its pods: the disruption controller cannot count them, or requires all of them. Source: Kubernetes,
 * `pkg/controller/disruption/disruption.go` getExpectedPodCount, failSafe.
 */
function impossibilityOf(pod: Pod, budget: Budget): Impossibility | undefined {
  const { spec, status = {} } = budget;
  const failure = countFailure(budget);
  if (failure !== undefined)
    return {
      why: `its pods cannot be counted (${failure.message ?? ""})`,
      remedy: "change its selector, or delete it",
    };
  const { desiredHealthy = 0, expectedPods = 0 } = status;
  if (expectedPods === 0 && controllerRefOf(pod) === undefined && typeof spec?.minAvailable !== "number")
    return {
      why: "the pod has no controller, so that only a number as minAvailable can be met",
      remedy: "set minAvailable to a number, or delete the pod",
    };
  if (expectedPods === 0) return undefined;
  if (desiredHealthy < expectedPods && !isAtBest(status)) return undefined;
  return (
    impossibleField(budget) ?? {
      why: `it requires ${desiredHealthy} healthy pods of ${expectedPods}`,
      remedy: "change it, or run more pods",
    }
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
  return judgeBudget(pod, budget);
}

/** Judges by the only budget that selects the pod. */
function judgeBudget(pod: Pod, budget: Budget): BudgetVerdict {
  const { status = {}, metadata } = budget;
  if ((status.disruptionsAllowed ?? 0) > 0 || isFreeBecauseUnready(pod, budget)) return { state: "free" };
  const name = nameOf(budget);
  const impossibility = impossibilityOf(pod, budget);
  // The status of another generation does not describe this budget, unless its pods cannot be counted at all.
  const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (!isObserved && countFailure(budget) === undefined) return { state: "free" };
  if (impossibility !== undefined) {
    const message = `PodDisruptionBudget ${name} can never be met: ${impossibility.why}; ${impossibility.remedy}`;
    return { state: "misconfigured", budgets: [name], message };
  }
  const { desiredHealthy = 0, currentHealthy = 0 } = status;
  const missing = Math.max(1, desiredHealthy + 1 - currentHealthy);
  const message = `PodDisruptionBudget ${name} needs ${missing} more healthy ${missing === 1 ? "pod" : "pods"} (${currentHealthy} of ${desiredHealthy})`;
  return { state: "waiting", budgets: [name], message };
}
