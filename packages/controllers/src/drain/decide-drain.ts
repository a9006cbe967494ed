import type { Node, Pod } from "../model/node-objects.ts";
import { type Blocker, describeBlockers, describeUnknownPods } from "./blockers.ts";
import type { DrainAction } from "./drain-action.ts";
import type { DrainClock, Move } from "./drain-record.ts";
import type { DrainTerms, DrainView } from "./drain-view.ts";
import { planEvictions } from "./plan-evictions.ts";
import { overdueAfter, type StayingPod, stayingPods } from "./pod-verdict.ts";
import { type MoveProgress, progressOf } from "./volume-moves.ts";

/** Progress of a drain. */
export type DrainProgress =
  | {
      readonly state: "drained";
      readonly isForced: boolean;
      /** Names of the volumes of evicted pods that are still attached to the node: they were not detached in time. Sorted; absent when there are none. */
      readonly attached?: readonly string[];
      readonly actions: readonly DrainAction[];
    }
  | {
      readonly state: "draining";
      /** What the drain waits for. */
      readonly blockers: readonly Blocker[];
      /** The same for people; absent when there is none. */
      readonly message?: string;
      /** Whether nothing is left to evict, and it is only made certain: that takes no longer than the requests of `actions`. Default: false. */
      readonly isConfirming?: boolean;
      readonly actions: readonly DrainAction[];
      readonly requeueAfterMs: number;
    };

/** An empty node is checked once more after its cordon was written, and after its pods were read; both enqueue the machine, this is the fallback. */
const checking = { state: "draining", blockers: [], requeueAfterMs: 5_000 } as const;

/** Pods with volumes are evicted one after another: while one is being replaced, the others are in service. */
const MOVES_AT_ONCE = 1;

/** A move in progress. */
interface MoveUnderWay {
  readonly move: Move;
  readonly progress: Exclude<MoveProgress, { readonly state: "done" }>;
}

/** The nodes that a drain empties. */
export const nodesOf = ({ node, otherNodes = [] }: DrainView): readonly Node[] => [node, ...otherNodes];

/** Only spec.unschedulable: Kubernetes adds the taint of that name itself. A node that a user cordoned is not changed. */
const cordonPatch = (
  view: DrainView,
  { cordon }: DrainTerms,
): readonly Extract<DrainAction, { readonly kind: "PatchNode" }>[] =>
  nodesOf(view)
    .filter(({ spec }) => cordon && spec?.unschedulable !== true)
    .map(({ metadata }) => ({ kind: "PatchNode", name: metadata.name, patch: { spec: { unschedulable: true } } }));

/** Whether the drain ends now, whatever is left. */
export const isForceDue = ({ mode, deadline }: Pick<DrainTerms, "mode" | "deadline">, now: Date): boolean =>
  mode === "force" || (mode === "normal" && now.getTime() > deadline);

/** Deletes the remaining pods, without evictions and without waiting; a failed cordon does not stop it. */
function force(view: DrainView, terms: DrainTerms, staying: readonly StayingPod[]): DrainProgress {
  const deletions = staying.map(({ pod, uid }): DrainAction => {
    const { namespace = "", name } = pod.metadata;
    return { kind: "DeletePod", atOnce: true, namespace, name, uid };
  });
  const cordon = cordonPatch(view, terms).map((action): DrainAction => ({ ...action, mayFail: true }));
  return { state: "drained", isForced: true, actions: [...cordon, ...record(view, []), ...deletions] };
}

/** Nothing is left to evict, as far as is known: waits until it is certain that no pod was bound before the cordon and is missing in the cache. */
function confirmEmpty(view: DrainView, { startedAt }: DrainTerms): DrainProgress {
  if (view.knownPods === "disconnected")
    return { ...checking, message: describeUnknownPods(new Date(startedAt)), actions: [] };
  const reads = nodesOf(view).map(({ metadata }): DrainAction => ({ kind: "ReadPods", nodeName: metadata.name }));
  return { ...checking, isConfirming: true, actions: reads };
}

/** Whether the pod uses its volumes. */
const isUsing = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** Volumes that other pods on the node use: they stay attached, so that the drain does not wait for them. */
const sharedWithOthers = ({ pods, volumes }: DrainView, uid: string): ReadonlySet<string> =>
  new Set(
    pods
      .filter((pod) => pod.metadata.uid !== uid && isUsing(pod))
      .flatMap(({ metadata }) => (volumes.get(metadata.uid ?? "") ?? []).map(({ name }) => name)),
  );

/** Whether the eviction was lost or rejected: the pod is not terminating. */
function isNotRequested({ uid }: Move, { pods, evictions }: DrainView): boolean {
  const pod = pods.find(({ metadata }) => metadata.uid === uid);
  return (
    pod !== undefined &&
    pod.metadata.deletionTimestamp == null &&
    (evictions.get(uid)?.state ?? "rejected") === "rejected"
  );
}

/** The moves in progress. */
function movesUnderWay(view: DrainView, terms: DrainTerms, now: Date): readonly MoveUnderWay[] {
  const podsHere = new Set(view.pods.map(({ metadata }) => metadata.uid ?? ""));
  return view.record.moves.flatMap((move) => {
    if (isNotRequested(move, view)) return [];
    const volumes = { ...view.attached, podsHere, sharedHere: sharedWithOthers(view, move.uid) };
    const progress = progressOf(move, volumes, terms.volumes, now);
    return progress.state === "done" ? [] : [{ move, progress }];
  });
}

/** Whether the next pod with volumes has to wait for this one. A volume that is not detached in time is reported, but does not block. */
const holdsUp = ({ progress }: MoveUnderWay): boolean => progress.state === "reattaching" || !progress.isOverdue;

/** Records when a volume was detached: the wait for its attachment counts from then. */
const withDetachTime = ({ move, progress }: MoveUnderWay): Move =>
  progress.state === "reattaching" && move.detachedAt === undefined
    ? { ...move, detachedAt: new Date(progress.since).toISOString() }
    : move;

const volumesOf = ({ progress }: MoveUnderWay): readonly string[] =>
  progress.state === "leaving" ? [] : progress.volumes.map(({ name }) => name);

const blockerOf = (each: MoveUnderWay): readonly Blocker[] => {
  const { move, progress } = each;
  const volumes = volumesOf(each);
  if (progress.state === "leaving") return [];
  const isOverdue = progress.state === "detaching" && progress.isOverdue;
  return [{ kind: progress.state, pod: move.pod, volumes, isOverdue }];
};

/** The volumes for which the drain no longer waits. */
function stillAttached(underWay: readonly MoveUnderWay[]): { readonly attached?: readonly string[] } {
  const names = underWay.flatMap(volumesOf);
  return names.length === 0 ? {} : { attached: [...new Set(names)].toSorted() };
}

/** Why the drain waits for a pod that is not evicted. */
function waitingFor({ pod, key, verdict }: StayingPod): readonly Blocker[] {
  if (verdict.behavior === "evict") return [];
  if (verdict.reason === "waitCompleted") return [{ kind: "completion", pod: key }];
  if (verdict.reason === "terminating") return [{ kind: "leaving", pod: key }];
  return [{ kind: "overdue", pod: key, finalizers: pod.metadata.finalizers ?? [] }];
}

/** Stores the moves and the time that counts when they changed. */
function record({ record: stored }: DrainView, moves: readonly Move[], clock?: DrainClock): readonly DrainAction[] {
  const textOf = (list: readonly Move[]): string =>
    list.map(({ uid, evictedAt, detachedAt = "" }) => `${uid}/${evictedAt}/${detachedAt}`).join();
  if (textOf(moves) === textOf(stored.moves) && clock === stored.clock) return [];
  return [{ kind: "RecordDrain", record: { moves, ...(clock === undefined ? {} : { clock }) } }];
}

/**
 * Drains a node: cordon, then evictions by order, budget and volume (see `planEvictions`), until no pod is left and no volume is moving; after the deadline
 * the remaining pods are deleted. Used before a VM is deleted, before an in-place update, when a Failed machine is preserved, and in the dry run.
 */
export function decideDrain(view: DrainView, terms: DrainTerms, now: Date): DrainProgress {
  const nowMs = now.getTime();
  const staying = stayingPods(view, terms, now);
  if (isForceDue(terms, now)) return force(view, terms, staying);

  const cordon = cordonPatch(view, terms);
  const underWay = movesUnderWay(view, terms, now);
  const held = underWay.filter(holdsUp);
  if (staying.length === 0 && held.length === 0) {
    // A pod may have been bound meanwhile: the node must be empty after its cordon.
    if (cordon.length > 0) return { ...checking, isConfirming: true, actions: cordon };
    return terms.cordon && view.knownPods !== "complete"
      ? confirmEmpty(view, terms)
      : { state: "drained", isForced: false, ...stillAttached(underWay), actions: record(view, []) };
  }

  const plan = planEvictions(view, terms, staying, MOVES_AT_ONCE - held.length, now);
  const blockers: readonly Blocker[] =
    terms.mode === "withheld"
      ? staying.map(({ key }) => ({ kind: "unreachable", pod: key }))
      : [...underWay.flatMap(blockerOf), ...plan.blockers, ...staying.flatMap(waitingFor)];
  const message = describeBlockers(blockers, new Date(terms.startedAt));
  const requeueTimes = [
    terms.deadline + 1,
    terms.evictUntil,
    ...underWay.map(({ progress }) => progress.until + 1),
    ...staying.flatMap(({ pod }) => overdueAfter(pod) ?? []).map((at) => at + 1),
    ...plan.requeueTimes,
  ];
  return {
    state: "draining",
    blockers,
    ...(message === undefined ? {} : { message }),
    // The record comes before the evictions: the drain would not wait for an unrecorded move.
    actions: [
      ...cordon,
      ...record(view, [...underWay.map(withDetachTime), ...plan.moves], terms.clock ?? view.record.clock),
      ...plan.lookups,
      ...plan.actions,
    ],
    requeueAfterMs: Math.min(...requeueTimes.filter((at) => at > nowMs)) - nowMs,
  };
}
