import { apiTime } from "@millwright/kube";
import type { StoredObject } from "../../objects/stored-object.ts";
import {
  arrayAt,
  at,
  entriesOf,
  field,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  stringAt,
} from "../../json/json.ts";
import { isTrue } from "../../objects/conditions.ts";
import { matcherOfSelectorObject } from "../../selectors/label-selector.ts";
import { plainText } from "../../json/quoting.ts";

/**
 * How long an evicted pod that still exists counts as disrupted. Source: kube-controller-manager's disruption controller.
 */
export const deletionTimeoutMs = 120_000;

/**
 * The status of a budget for the pods of its namespace at a time; `scaleOf` returns the desired replicas of a controller by its
 * UID. A budget that cannot be evaluated allows no disruption and has the reason in its condition.
 */
export function budgetStatus(
  budget: StoredObject,
  pods: readonly StoredObject[],
  scaleOf: (uid: string) => number | undefined,
  now: Date,
): JsonObject {
  const before = objectAt(budget, "status");
  const selector = at(budget, "spec", "selector");
  const selects = matcherOfSelectorObject(isObject(selector) ? selector : undefined);
  const selected = pods.filter((pod) => selects(pod.metadata.labels) && !isFinished(pod));
  const wanted = wantedHealthy(budget, selected, scaleOf);
  const { generation = 0 } = budget.metadata;
  if (typeof wanted === "string") {
    const condition = { status: "False", reason: "SyncFailed", message: wanted } as const;
    const failed = { ...before, disruptionsAllowed: 0 };
    return withDisruptionCondition(failed, condition, now);
  }
  const { expectedPods, desiredHealthy } = wanted;
  const disruptedPods = stillDisrupted(budget, selected, now);
  const currentHealthy = selected.filter((pod) => isHealthy(pod) && !Object.hasOwn(disruptedPods, pod.metadata.name));
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy.length - desiredHealthy);
  const { disruptedPods: _former, ...rest } = before;
  return withAllowance(
    {
      ...rest,
      ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
      currentHealthy: currentHealthy.length,
      desiredHealthy,
      expectedPods,
      disruptionsAllowed,
      observedGeneration: generation,
    },
    now,
  );
}

/** The status with the condition DisruptionAllowed of its number. */
export function withAllowance(status: JsonObject, now: Date): JsonObject {
  const isAllowed = Number(status["disruptionsAllowed"] ?? 0) > 0;
  return withDisruptionCondition(
    status,
    isAllowed
      ? { status: "True", reason: "SufficientPods", message: "" }
      : { status: "False", reason: "InsufficientPods", message: "" },
    now,
  );
}

function withDisruptionCondition(
  status: JsonObject,
  wanted: { readonly status: "True" | "False"; readonly reason: string; readonly message: string },
  now: Date,
): JsonObject {
  const type = "DisruptionAllowed";
  const present = arrayAt(status, "conditions").find((condition) => field(condition, "type") === type);
  const isSame = field(present, "status") === wanted.status;
  const condition = {
    type,
    observedGeneration: status["observedGeneration"] ?? 0,
    lastTransitionTime: (isSame ? stringAt(present, "lastTransitionTime") : undefined) ?? apiTime(now),
    ...wanted,
  };
  const others = arrayAt(status, "conditions").filter((other) => other !== present);
  return { ...status, conditions: [...others, condition] };
}

/** The numbers of expected and of required healthy pods, or why they are unknown. */
function wantedHealthy(
  budget: StoredObject,
  selected: readonly StoredObject[],
  scaleOf: (uid: string) => number | undefined,
): { readonly expectedPods: number; readonly desiredHealthy: number } | string {
  const minimum = at(budget, "spec", "minAvailable");
  // With a plain number of required pods, the number of expected pods is that of the selected ones.
  if (typeof minimum === "number") return { expectedPods: selected.length, desiredHealthy: minimum };
  const expectedPods = expectedCount(selected, scaleOf);
  if (typeof expectedPods === "string") return expectedPods;
  const maximum = at(budget, "spec", "maxUnavailable");
  const desiredHealthy =
    minimum === undefined ? Math.max(0, expectedPods - scaled(maximum, expectedPods)) : scaled(minimum, expectedPods);
  return { expectedPods, desiredHealthy };
}

/** The replicas of the pods' controllers, each counted once. Pods without a controller do not count. */
function expectedCount(pods: readonly StoredObject[], scaleOf: (uid: string) => number | undefined): number | string {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const owner = (pod.metadata.ownerReferences ?? []).find((reference) => field(reference, "controller") === true);
    const uid = stringAt(owner, "uid") ?? "";
    if (owner === undefined || scales.has(uid)) continue;
    const scale = scaleOf(uid);
    if (scale === undefined) return `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`;
    scales.set(uid, scale);
  }
  return [...scales.values()].reduce((sum, scale) => sum + scale, 0);
}

/** The recent evictions whose pods are not being deleted yet. */
function stillDisrupted(budget: StoredObject, selected: readonly StoredObject[], now: Date): JsonObject {
  const granted = entriesOf(objectAt(budget, "status", "disruptedPods"));
  const waiting = new Set(
    selected.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ metadata }) => metadata.name),
  );
  return Object.fromEntries(
    granted.filter(
      ([name, time]) => waiting.has(name) && Date.parse(plainText(time)) + deletionTimeoutMs >= now.getTime(),
    ),
  );
}

function isFinished(pod: StoredObject): boolean {
  const phase = stringAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
}

function isHealthy(pod: StoredObject): boolean {
  return pod.metadata.deletionTimestamp === undefined && isTrue(pod, "Ready");
}

/** A number, or a percentage of `total` rounded up, as Kubernetes does for budgets. */
function scaled(value: Json | undefined, total: number): number {
  if (typeof value === "number") return value;
  const percent = typeof value === "string" ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}
