import type { Timer } from "@millwright/base";
import { at, entriesOf, jsonEqual, objectAt } from "../json/json.ts";
import type { ServerContext } from "../resources/server-context.ts";
import { updateBudgetStatus } from "../verbs/eviction/update-budget-status.ts";
import { budgetStatus, deletionTimeoutMs } from "../verbs/eviction/budget-status.ts";
import { createDeferredRun } from "./deferred-run.ts";

const budgets = "poddisruptionbudgets.policy";

/**
 * Maintains the status of PodDisruptionBudgets, which decides evictions: how many of the selected pods are healthy, how many
 * must be, how many may be disrupted, and which evicted pods are not deleted yet. The number of expected pods comes from their
 * controllers.
 */
export function runDisruptionController(context: ServerContext): () => void {
  const { store, registry, clock } = context;
  const definition = registry.findKind("policy", "PodDisruptionBudget");
  if (definition === undefined) return () => {};
  let recheck: Timer | undefined;
  const scaleOf = (uid: string): number | undefined => {
    const controller = store.byUid(uid)?.object;
    const replicas = at(controller, "spec", "replicas");
    return typeof replicas === "number" ? replicas : undefined;
  };
  const work = createDeferredRun(() => {
    let isWaiting = false;
    for (const budget of store.list(budgets)) {
      const pods = store.list("pods.", budget.metadata.namespace);
      const status = budgetStatus(budget, pods, scaleOf, clock.now());
      isWaiting ||= entriesOf(objectAt(status, "disruptedPods")).length > 0;
      if (!jsonEqual(status, budget["status"])) {
        updateBudgetStatus(context, definition, budget, status, "kube-controller-manager");
      }
    }
    recheck?.cancel();
    recheck = isWaiting ? clock.setTimer(deletionTimeoutMs + 1, () => work.schedule()) : undefined;
  });
  const unsubscribeBudgets = store.subscribe(budgets, () => work.schedule());
  const unsubscribePods = store.subscribe("pods.", () => {
    if (store.list(budgets).length > 0) work.schedule();
  });
  work.schedule();
  return () => {
    recheck?.cancel();
    unsubscribeBudgets();
    unsubscribePods();
    work.stop();
  };
}
