import { apiTime } from "@millwright/kube";
import type { StoredObject } from "../../objects/stored-object.ts";
import { arrayAt, at, field, isObject, type Json, objectAt, stringAt, withField } from "../../json/json.ts";
import type { ResourceDefinition } from "../../resources/resource-definition.ts";
import { withAllowance } from "./budget-status.ts";
import { updateBudgetStatus } from "./update-budget-status.ts";
import { find, type ServerContext, type ObjectRef } from "../../resources/server-context.ts";
import { conditionOf, withCondition } from "../../objects/conditions.ts";
import { matcherOfSelectorObject } from "../../selectors/label-selector.ts";
import { StatusError, badRequest, conflict, internalError, notFound } from "../../errors/status-error.ts";
import { type DeleteOptions, deleteObject, readDeleteOptions } from "../delete.ts";
import type { Outcome } from "../outcome.ts";
import { commit } from "../update.ts";

const budgetsCollection = "poddisruptionbudgets.policy";

/**
 * Evicts a pod: deletes it when no PodDisruptionBudget prevents that, else throws 429 with the cause `DisruptionBudget`. A
 * finished, pending or terminating pod never counts against a budget.
 */
export function evictPod(
  context: ServerContext,
  definition: ResourceDefinition,
  ref: ObjectRef,
  body: Json | undefined,
): Outcome {
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
  const pod = find(context, definition, ref);
  if (pod === undefined) throw notFound(definition, ref.name);
  if (countsForBudgets(pod)) {
    const budgets = context.store
      .list(budgetsCollection, ref.namespace)
      .filter((budget) => matcherOfSelectorObject(selectorOf(budget))(pod.metadata.labels));
    if (budgets.length > 1) {
      throw new StatusError(
        500,
        "",
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      );
    }
    const [budget] = budgets;
    if (budget !== undefined && !isEvictableUnhealthy(pod, budget))
      spendDisruption(context, budget, ref.name, options.dryRun);
  }
  if (!options.dryRun) checkPreconditions(pod, options);
  const isMarked = !options.dryRun && markEvicted(context, definition, pod);
  // Setting the condition has changed the resourceVersion that the caller sent.
  deleteObject(context, definition, ref, isMarked ? { ...options, resourceVersion: undefined } : options);
  return { code: 201, body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 } };
}

/** Throws 409 when the preconditions of the caller do not match the pod. */
function checkPreconditions(pod: StoredObject, { uid, resourceVersion }: DeleteOptions): void {
  const kind = { group: "", plural: "Pod", kind: "Pod" };
  const { name } = pod.metadata;
  if (uid && uid !== pod.metadata.uid) {
    const why =
      `the UID in the precondition (${uid}) does not match the UID in record (${pod.metadata.uid}). ` +
      "The object might have been deleted and then recreated";
    throw conflict(kind, name, why);
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    const why =
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
      `(${pod.metadata.resourceVersion}). The object might have been modified`;
    throw conflict(kind, name, why);
  }
}

/** Sets the condition DisruptionTarget of an evicted pod. Returns whether that changed it. */
function markEvicted(context: ServerContext, definition: ResourceDefinition, pod: StoredObject): boolean {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  } as const;
  const marked = withCondition(pod, condition, apiTime(context.clock.now()));
  if (marked === pod) return false;
  // Go writes an empty lastProbeTime.
  const conditions = arrayAt(marked, "status", "conditions").map((one) =>
    isObject(one) ? { lastProbeTime: null, ...one } : one,
  );
  commit(context, definition, pod, withField(marked, ["status", "conditions"], conditions));
  return true;
}

function countsForBudgets(pod: StoredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed" || phase === "Pending") return false;
  return pod.metadata.deletionTimestamp === undefined;
}

/** An unhealthy pod may be evicted when its budget's policy allows it, or when the budget is met without it. */
function isEvictableUnhealthy(pod: StoredObject, budget: StoredObject): boolean {
  const isReady = arrayAt(pod, "status", "conditions").some(
    (condition) => field(condition, "type") === "Ready" && field(condition, "status") === "True",
  );
  if (isReady) return false;
  if (stringAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const healthy = Number(at(budget, "status", "currentHealthy") ?? 0);
  const desired = Number(at(budget, "status", "desiredHealthy") ?? 0);
  return healthy >= desired && desired > 0;
}

function spendDisruption(context: ServerContext, budget: StoredObject, podName: string, dryRun: boolean): void {
  const before = objectAt(budget, "status");
  const allowed = Number(field(before, "disruptionsAllowed") ?? 0);
  const { name } = budget.metadata;
  if (Number(field(before, "observedGeneration") ?? 0) < (budget.metadata.generation ?? 0)) {
    throw tooManyDisruptions(`The disruption budget ${name} is still being processed by the server.`, {
      "retry-after": "10",
    });
  }
  if (allowed <= 0) throw tooManyDisruptions(whyNoDisruption(budget));
  if (dryRun) return;
  const definition = context.registry.findKind("policy", "PodDisruptionBudget");
  if (definition === undefined) throw internalError("the kind PodDisruptionBudget is not served");
  const now = context.clock.now();
  // The budget counts the pod as disrupted until it is deleted, or until that has taken too long.
  const disruptedPods = { ...objectAt(before, "disruptedPods"), [podName]: apiTime(now) };
  const spent = { ...before, disruptionsAllowed: allowed - 1, disruptedPods };
  const status = allowed > 1 ? spent : withAllowance(spent, now);
  updateBudgetStatus(context, definition, budget, status, "kube-apiserver");
}

function whyNoDisruption(budget: StoredObject): string {
  const { name } = budget.metadata;
  const condition = conditionOf(budget, "DisruptionAllowed");
  const message = stringAt(condition, "message") ?? "";
  if (message !== "" && stringAt(condition, "reason") === "SyncFailed") {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${message}`;
  }
  const needed = Number(at(budget, "status", "desiredHealthy") ?? 0);
  const healthy = Number(at(budget, "status", "currentHealthy") ?? 0);
  return healthy <= needed
    ? `The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`
    : `The disruption budget ${name} does not allow evicting pods currently`;
}

function tooManyDisruptions(message: string, headers: Readonly<Record<string, string>> = {}): StatusError {
  return new StatusError(
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
