import type { StoredObject } from "../api-object.ts";
import { arrayAt, at, field, isObject, type Json, objectAt, stringAt, withField } from "../json.ts";
import type { ResourceDefinition } from "../kinds/resource-definition.ts";
import { find, type Machinery, type ObjectRef } from "../machinery.ts";
import { matcherOfSelectorObject } from "../selectors/label-selector.ts";
import { ApiFault, badRequest, internalError, notFound } from "../status.ts";
import { deleteObject, readDeleteOptions } from "./delete.ts";
import type { Outcome } from "./outcome.ts";
import { commit } from "./update.ts";

const budgetsCollection = "poddisruptionbudgets.policy";

/**
 * Evicts a pod: deletes it when no disruption budget stands against it, else answers 429 with the cause
 * `DisruptionBudget`. A pod that is finished, pending or being deleted never counts against a budget.
 */
export function evictPod(
  machinery: Machinery,
  definition: ResourceDefinition,
  ref: ObjectRef,
  body: Json | undefined,
): Outcome {
  const pod = find(machinery, definition, ref);
  if (pod === undefined) throw notFound(definition, ref.name);
  const named = stringAt(body, "metadata", "name");
  const kind = stringAt(body, "kind");
  if (kind !== undefined && kind !== "Eviction") {
    const version = stringAt(body, "apiVersion") ?? "v1";
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a Eviction: converting (${version}.${kind}) to ` +
        "(policy.Eviction): unknown conversion",
    );
  }
  if (named !== ref.name) throw badRequest("name in URL does not match name in Eviction object");
  const options = readDeleteOptions(field(body, "deleteOptions"), new URLSearchParams());
  if (countsForBudgets(pod)) {
    const budgets = machinery.store
      .list(budgetsCollection, ref.namespace)
      .filter((budget) => matcherOfSelectorObject(selectorOf(budget))(pod.metadata.labels));
    if (budgets.length > 1) {
      throw new ApiFault(
        500,
        "",
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      );
    }
    const [budget] = budgets;
    if (budget !== undefined && !mayBeEvictedAnyway(pod, budget)) spendDisruption(machinery, budget, options.dryRun);
  }
  deleteObject(machinery, definition, ref, options);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

function countsForBudgets(pod: StoredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending") return false;
  return pod.metadata.deletionTimestamp === undefined;
}

/** A pod that is not ready may go when its budget's policy says so, or when the budget is met without it. */
function mayBeEvictedAnyway(pod: StoredObject, budget: StoredObject): boolean {
  const isReady = arrayAt(pod, "status", "conditions").some(
    (condition) => field(condition, "type") === "Ready" && field(condition, "status") === "True",
  );
  if (isReady) return false;
  if (stringAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const healthy = Number(at(budget, "status", "currentHealthy") ?? 0);
  const desired = Number(at(budget, "status", "desiredHealthy") ?? 0);
  return healthy >= desired && desired > 0;
}

function spendDisruption(machinery: Machinery, budget: StoredObject, dryRun: boolean): void {
  const allowed = Number(at(budget, "status", "disruptionsAllowed") ?? 0);
  const { name } = budget.metadata;
  const observed = Number(at(budget, "status", "observedGeneration") ?? 0);
  if (observed < (budget.metadata.generation ?? 0)) {
    throw tooManyDisruptions(`The disruption budget ${name} is still being processed by the server.`, {
      "retry-after": "10",
    });
  }
  if (allowed <= 0) {
    const needed = Number(at(budget, "status", "desiredHealthy") ?? 0);
    const healthy = Number(at(budget, "status", "currentHealthy") ?? 0);
    throw tooManyDisruptions(`The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`);
  }
  if (dryRun) return;
  const definition = machinery.registry.findKind("policy", "PodDisruptionBudget");
  if (definition === undefined) throw internalError("the kind PodDisruptionBudget is not served");
  commit(machinery, definition, budget, withField(budget, ["status", "disruptionsAllowed"], allowed - 1));
}

function tooManyDisruptions(message: string, headers: Readonly<Record<string, string>> = {}): ApiFault {
  return new ApiFault(
    429,
    "TooManyRequests",
    "Cannot evict pod as it would violate the pod's disruption budget.",
    { causes: [{ reason: "DisruptionBudget", message }] },
    headers,
  );
}

function selectorOf(budget: StoredObject): ReturnType<typeof objectAt> | undefined {
  const selector = at(budget, "spec", "selector");
  return isObject(selector) ? selector : undefined;
}
