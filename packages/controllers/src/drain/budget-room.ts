import type { Budget, Pod } from "../model/node-objects.ts";
import { type BudgetVerdict, budgetsOf, judgeBudgets } from "./budget-verdict.ts";
import type { EvictionView } from "./eviction-view.ts";

/** Hands out what budgets allow, so that a pass asks for no more evictions than can succeed. */
export interface BudgetRoom {
  /** Whether the pod may go now; if so, its budget has room for one less. */
  take(pod: Pod): BudgetVerdict;
}

/** Counts the room of budgets: what they allow, less the evictions under way that their status does not show yet. */
export function createBudgetRoom(
  budgets: readonly Budget[],
  pods: readonly Pod[],
  evictions: ReadonlyMap<string, EvictionView>,
): BudgetRoom {
  const left = new Map<Budget, number>(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  const use = (budget: Budget): void => void left.set(budget, (left.get(budget) ?? 0) - 1);
  for (const pod of pods) {
    const state = evictions.get(pod.metadata.uid ?? "")?.state;
    // What is on its way out is in the budget's status already.
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
        const name = `${budget.metadata.namespace ?? ""}/${budget.metadata.name}`;
        return { state: "waiting", budgets: [name], message: `budget ${name} lets no more pods go at once` };
      }
      use(budget);
      return verdict;
    },
  };
}

/** Whether the number of allowed disruptions says something: not for a status of an older generation, nor where unready pods go freely. */
const isCounted = ({ metadata, status = {} }: Budget): boolean =>
  (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status.disruptionsAllowed ?? 0) > 0;
