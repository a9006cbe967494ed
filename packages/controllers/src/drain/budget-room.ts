import type { Budget, Pod } from "../model/node-objects.ts";
import { type BudgetVerdict, budgetsOf, judgeBudgets, nameOf } from "./budget-verdict.ts";
import type { EvictionView } from "@millwright/kube";

/** Tracks the disruptions that budgets allow, so that a reconcile requests no more evictions than can succeed. */
export interface BudgetRoom {
  /** Whether the pod may be evicted now; if so, its budget allows one disruption less. */
  take(pod: Pod): BudgetVerdict;
}

/** The disruptions that budgets allow, less the evictions in flight that their status does not show yet. */
export function createBudgetRoom(
  budgets: readonly Budget[],
  pods: readonly Pod[],
  evictions: ReadonlyMap<string, EvictionView>,
): BudgetRoom {
  const left = new Map<Budget, number>(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const use = (budget: Budget): void => void left.set(budget, (left.get(budget) ?? 0) - 1);
  for (const pod of pods) {
    const state = evictions.get(pod.metadata.uid ?? "")?.state;
    // The budget's status already includes terminating pods.
    if (pod.metadata.deletionTimestamp != null || state === undefined || state === "rejected") continue;
    for (const budget of budgetsOf(pod, budgets)) use(budget);
  }
  return {
    take(pod) {
      const verdict = judgeBudgets(pod, budgets);
      if (verdict.state !== "free" || pod.status?.phase === "Pending") return verdict;
      const [budget] = budgetsOf(pod, budgets);
      if (budget === undefined || !isCounted(budget)) return verdict;
      if ((left.get(budget) ?? 0) <= 0) {
        const name = nameOf(budget);
        const message = `PodDisruptionBudget ${name} allows no further disruptions`;
        return { state: "waiting", budgets: [name], message };
      }
      use(budget);
      return verdict;
    },
  };
}

/** Whether the number of allowed disruptions applies: not for a status of an older generation, nor for unready pods that may be evicted anyway. */
const isCounted = ({ metadata, status = {} }: Budget): boolean =>
  (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status.disruptionsAllowed ?? 0) > 0;
