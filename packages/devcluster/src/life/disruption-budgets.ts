import type { StoredObject } from "../api-object.ts";
import { arrayAt, at, field, isObject, jsonEqual, type Json, objectAt, stringAt } from "../json.ts";
import type { Machinery } from "../machinery.ts";
import { matcherOfSelectorObject } from "../selectors/label-selector.ts";
import { commit } from "../verbs/update.ts";
import { createLater } from "./later.ts";

const budgets = "poddisruptionbudgets.policy";

/**
 * Keeps the status of disruption budgets, which evictions are decided by: how many of the selected pods are ready, how many
 * must be, how many may go. The number of pods that should exist is taken from those that do.
 */
export function keepDisruptionBudgets(machinery: Machinery): () => void {
  const { store, registry } = machinery;
  const definition = registry.findKind("policy", "PodDisruptionBudget");
  if (definition === undefined) return () => {};
  const work = createLater(() => {
    for (const budget of store.list(budgets)) {
      const status = {
        ...objectAt(budget, "status"),
        ...budgetStatus(budget, store.list("pods.", budget.metadata.namespace)),
      };
      if (!jsonEqual(status, budget["status"])) commit(machinery, definition, budget, { ...budget, status });
    }
  });
  const unsubscribeBudgets = store.subscribe(budgets, () => work.ask());
  const unsubscribePods = store.subscribe("pods.", () => {
    if (store.list(budgets).length > 0) work.ask();
  });
  work.ask();
  return () => {
    unsubscribeBudgets();
    unsubscribePods();
    work.stop();
  };
}

/** The numbers of a budget for the pods of its namespace. */
export function budgetStatus(budget: StoredObject, pods: readonly StoredObject[]): Readonly<Record<string, number>> {
  const selector = at(budget, "spec", "selector");
  const selects = matcherOfSelectorObject(isObject(selector) ? selector : undefined);
  const selected = pods.filter((pod) => selects(pod.metadata.labels) && !isFinished(pod));
  const expectedPods = selected.length;
  const currentHealthy = selected.filter(isHealthy).length;
  const minimum = at(budget, "spec", "minAvailable");
  const maximum = at(budget, "spec", "maxUnavailable");
  const desiredHealthy =
    minimum === undefined ? Math.max(0, expectedPods - scaled(maximum, expectedPods)) : scaled(minimum, expectedPods);
  return {
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy),
    observedGeneration: budget.metadata.generation ?? 0,
  };
}

function isFinished(pod: StoredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
}

function isHealthy(pod: StoredObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  return arrayAt(pod, "status", "conditions").some(
    (condition) => field(condition, "type") === "Ready" && field(condition, "status") === "True",
  );
}

/** A number, or a percentage of `total` rounded up, as Kubernetes does for budgets. */
function scaled(value: Json | undefined, total: number): number {
  if (typeof value === "number") return value;
  const percent = typeof value === "string" ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}
