import type { StoredObject } from "../api-object.ts";
import { arrayAt, at, field, isObject, jsonEqual, type Json, objectAt, stringAt } from "../json.ts";
import type { Machinery } from "../machinery.ts";
import { matcherOfSelectorObject } from "../selectors/label-selector.ts";
import { commit } from "../verbs/update.ts";
import { createLater } from "./later.ts";

const budgets = "poddisruptionbudgets.policy";

/**
 * Keeps the status of disruption budgets, which evictions are decided by: how many of the selected pods are ready, how many
 * must be, how many may go. How many pods should exist is asked of the controllers of those that do.
 */
export function keepDisruptionBudgets(machinery: Machinery): () => void {
  const { store, registry } = machinery;
  const definition = registry.findKind("policy", "PodDisruptionBudget");
  if (definition === undefined) return () => {};
  const work = createLater(() => {
    for (const budget of store.list(budgets)) {
      const status = {
        ...objectAt(budget, "status"),
        ...budgetStatus(budget, store.list("pods.", budget.metadata.namespace), (uid) => {
          const replicas = at(store.byUid(uid)?.object, "spec", "replicas");
          return typeof replicas === "number" ? replicas : undefined;
        }),
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

/** The numbers of a budget for the pods of its namespace; `scaleOf` gives the wanted replicas of a controller by its uid. */
export function budgetStatus(
  budget: StoredObject,
  pods: readonly StoredObject[],
  scaleOf: (uid: string) => number | undefined,
): Readonly<Record<string, number>> {
  const selector = at(budget, "spec", "selector");
  const selects = matcherOfSelectorObject(isObject(selector) ? selector : undefined);
  const selected = pods.filter((pod) => selects(pod.metadata.labels) && !isFinished(pod));
  const currentHealthy = selected.filter(isHealthy).length;
  const minimum = at(budget, "spec", "minAvailable");
  const maximum = at(budget, "spec", "maxUnavailable");
  // A plain number of pods that must stay says nothing about how many there should be.
  const expectedPods = typeof minimum === "number" ? selected.length : expectedCount(selected, scaleOf);
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

/** The replicas of the pods' controllers, each counted once, and the pods that have none. */
function expectedCount(pods: readonly StoredObject[], scaleOf: (uid: string) => number | undefined): number {
  const counted = new Set<string>();
  let expected = 0;
  for (const pod of pods) {
    const owner = (pod.metadata.ownerReferences ?? []).find((reference) => field(reference, "controller") === true);
    const uid = stringAt(owner, "uid") ?? "";
    const scale = uid === "" ? undefined : scaleOf(uid);
    if (scale === undefined) expected += 1;
    else if (!counted.has(uid)) {
      counted.add(uid);
      expected += scale;
    }
  }
  return expected;
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
