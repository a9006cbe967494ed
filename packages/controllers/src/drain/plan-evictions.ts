import type { Pod } from "../model/node-objects.ts";
import { controllerRefOf, type EvictionRejection } from "@millwright/kube";
import type { Blocker } from "./blockers.ts";
import { cordonOfPod, createdAt, isCreatedAfter } from "./cordon.ts";
import { createBudgetRoom, type BudgetRoom } from "./budget-room.ts";
import type { DrainAction } from "./drain-action.ts";
import type { Move } from "./drain-record.ts";
import type { DrainTerms, DrainView } from "./drain-view.ts";
import type { StayingPod } from "./pod-verdict.ts";
import type { TrackedVolume } from "./volume-accounting.ts";

/** Which pods are evicted in a reconcile, and why the others are not. */
export interface EvictionPlan {
  /** Driver lookups, before pods with volumes are evicted. */
  readonly lookups: readonly DrainAction[];
  readonly actions: readonly DrainAction[];
  /** Evicted pods whose volumes must be moved. */
  readonly moves: readonly Move[];
  readonly blockers: readonly Blocker[];
  /** Wall clock, milliseconds: when evictions may be retried. */
  readonly requeueTimes: readonly number[];
}

/** Default grace period of a pod, seconds. Source: Kubernetes API reference, PodSpec. */
const DEFAULT_GRACE_SECONDS = 30;

/** A pod that was created on a cordoned node although it does not tolerate that may be recreated there: it is evicted only this often, milliseconds. */
const RETURN_PAUSE_MS = 30_000;

/** The API server's message about a budget; the phrase of the blocker contains it already. */
const budgetSentence = /^Cannot evict pod as it would violate the pod's disruption budget\.\s*/;

/** A rejection by a budget, when the cached budget still had room. */
const rejectionBlocker = (pod: string, { message, isBudget }: EvictionRejection): Blocker =>
  isBudget
    ? { kind: "budget", pod, cause: "waiting", message: message.replace(budgetSentence, "") }
    : { kind: "rejected", pod, message };

/** Whether to evict one pod. */
type Verdict = { readonly action: DrainAction } | { readonly blocker: Blocker; readonly requeueAt?: number };

/** Until when a pod that was created on the cordoned node is left alone, wall clock in milliseconds; 0 for all others. */
const pauseOf = (pod: Pod, view: DrainView, terms: DrainTerms): number =>
  isCreatedAfter(pod, cordonOfPod(view, pod, terms)) ? createdAt(pod) + RETURN_PAUSE_MS : 0;

function verdictOn(
  { pod, uid, key }: StayingPod,
  view: DrainView,
  terms: DrainTerms,
  room: BudgetRoom,
  now: Date,
): Verdict {
  const eviction = view.evictions.get(uid);
  // A retry is reported only when it succeeds: otherwise the message would flap.
  if (eviction?.state === "queued" && eviction.rejection !== undefined)
    return { blocker: rejectionBlocker(key, eviction.rejection) };
  if (eviction !== undefined && eviction.state !== "rejected") return { blocker: { kind: "leaving", pod: key } };
  const pausedUntil = pauseOf(pod, view, terms);
  if (now.getTime() < pausedUntil) return { blocker: { kind: "returning", pod: key }, requeueAt: pausedUntil };
  const isPastBudgets = now.getTime() >= terms.evictUntil;
  if (!isPastBudgets) {
    const budget = room.take(pod);
    if (budget.state !== "free")
      return {
        blocker: { kind: "budget", pod: key, cause: budget.state, message: budget.message, budgets: budget.budgets },
      };
  }
  if (eviction !== undefined && eviction.retryAt > now.getTime() && !(isPastBudgets && eviction.isBudget))
    return { blocker: rejectionBlocker(key, eviction), requeueAt: eviction.retryAt };
  const { namespace = "", name } = pod.metadata;
  return {
    action: isPastBudgets
      ? { kind: "DeletePod", atOnce: false, namespace, name, uid }
      : { kind: "EvictPod", namespace, name, uid },
  };
}

function moveOf({ pod, uid, key }: StayingPod, volumes: readonly TrackedVolume[], now: Date): Move {
  return {
    uid,
    pod: key,
    volumes,
    evictedAt: now.toISOString(),
    isReplaced: controllerRefOf(pod) !== undefined,
    graceSeconds: pod.spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  };
}

/** Pods of high priority first, so that they are back in service soonest. */
const byPriority = (a: StayingPod, b: StayingPod): number => (b.pod.spec?.priority ?? 0) - (a.pod.spec?.priority ?? 0);

/**
 * Chooses the pods to evict now: of the lowest order those without volumes at once, as their budgets allow, and those with volumes by priority, as long as there
 * are `slots`. A pod that is blocked by its budget does not delay the next one.
 */
export function planEvictions(
  view: DrainView,
  terms: DrainTerms,
  staying: readonly StayingPod[],
  slots: number,
  now: Date,
): EvictionPlan {
  const order = Math.min(...staying.map(({ verdict }) => verdict.order));
  const toEvict = staying.filter(({ verdict }) => verdict.behavior === "evict");
  const current = toEvict.filter(({ verdict }) => verdict.order === order);
  const volumesOf = ({ uid }: StayingPod): readonly TrackedVolume[] => view.volumes.get(uid) ?? [];
  const hasVolumes = (each: StayingPod): boolean => volumesOf(each).length > 0;
  const room = createBudgetRoom(view.budgets, view.pods, view.evictions);

  const actions: DrainAction[] = [];
  const moves: Move[] = [];
  const blockers: Blocker[] = toEvict
    .filter(({ verdict }) => verdict.order !== order)
    .map(({ key }) => ({ kind: "order", pod: key }));
  const requeueTimes: number[] = [];
  const consider = (each: StayingPod): boolean => {
    const verdict = verdictOn(each, view, terms, room, now);
    if ("action" in verdict) {
      actions.push(verdict.action);
      blockers.push({ kind: "leaving", pod: each.key });
      return true;
    }
    blockers.push(verdict.blocker);
    if (verdict.requeueAt !== undefined) requeueTimes.push(verdict.requeueAt);
    return false;
  };

  for (const each of current.filter((one) => !hasVolumes(one))) consider(each);
  const withVolumes = current.filter(hasVolumes).toSorted(byPriority);
  const lookups: readonly DrainAction[] =
    withVolumes.length === 0 || view.unknownVolumes.length === 0
      ? []
      : [{ kind: "LookUpVolumeIds", volumes: view.unknownVolumes }];
  const isAnswered = lookups.length === 0 && now.getTime() >= view.volumeIdsUntil;
  if (!isAnswered && withVolumes.length > 0) requeueTimes.push(view.volumeIdsUntil);
  for (const each of withVolumes) {
    const isRequested = (view.evictions.get(each.uid)?.state ?? "rejected") !== "rejected";
    if (!isRequested && !isAnswered) blockers.push({ kind: "lookup", pod: each.key });
    else if (!isRequested && moves.length >= slots) blockers.push({ kind: "turn", pod: each.key });
    else if (consider(each)) moves.push(moveOf(each, volumesOf(each), now));
  }
  return { lookups, actions, moves, blockers, requeueTimes };
}
