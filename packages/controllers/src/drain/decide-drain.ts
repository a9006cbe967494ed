import type { Pod } from "../model/node-objects.ts";
import { type Blocker, describeBlockers } from "./blockers.ts";
import type { DrainAction } from "./drain-action.ts";
import type { Move } from "./drain-record.ts";
import type { DrainTerms, DrainView } from "./drain-view.ts";
import { planEvictions } from "./plan-evictions.ts";
import { overdueAfter } from "./pod-verdict.ts";
import { type StayingPod, stayingPods } from "./staying-pods.ts";
import { type MoveProgress, progressOf } from "./volume-moves.ts";

/** How far a drain is. */
export type DrainProgress =
  | {
      readonly state: "drained";
      readonly isForced: boolean;
      readonly actions: readonly DrainAction[];
    }
  | {
      readonly state: "draining";
      /** What is being waited for. */
      readonly blockers: readonly Blocker[];
      /** The same for people; absent when there is nothing to say yet. */
      readonly message?: string;
      readonly actions: readonly DrainAction[];
      readonly requeueAfterMs: number;
    };

/** An empty node is looked at once more after its cordon was written; that write wakes the drain, this is the fallback. */
const CORDON_CHECK_MS = 5_000;

/** Pods with volumes leave one after another: while one is away, the others serve. */
const MOVES_AT_ONCE = 1;

/** A move that goes on, with how far it is. */
interface MoveUnderWay {
  readonly move: Move;
  readonly progress: Exclude<MoveProgress, { readonly state: "done" }>;
}

/** Only spec.unschedulable: Kubernetes adds the taint of that name itself. A node that a person cordoned stays as it is. */
const cordonOf = (
  { node }: DrainView,
  { cordon }: DrainTerms,
): readonly Extract<DrainAction, { readonly kind: "PatchNode" }>[] =>
  !cordon || node.spec?.unschedulable === true
    ? []
    : [{ kind: "PatchNode", name: node.metadata.name, patch: { spec: { unschedulable: true } } }];

/** Deletes what is left, without asking and without waiting; a cordon that fails is no reason to stop any more. */
function force(view: DrainView, terms: DrainTerms, staying: readonly StayingPod[]): DrainProgress {
  const deletions = staying.map(({ pod, uid }): DrainAction => {
    const { namespace = "", name } = pod.metadata;
    return { kind: "DeletePod", atOnce: true, namespace, name, uid };
  });
  const cordon = cordonOf(view, terms).map((action): DrainAction => ({ ...action, mayFail: true }));
  return { state: "drained", isForced: true, actions: [...cordon, ...record(view, []), ...deletions] };
}

/** Whether the pod uses its volumes, and will as long as it is there. */
const isUsing = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** Volumes that other pods on the node use: those stay attached, so that nobody waits for them. */
const sharedWithOthers = ({ pods, volumes }: DrainView, uid: string): ReadonlySet<string> =>
  new Set(
    pods
      .filter((pod) => pod.metadata.uid !== uid && isUsing(pod))
      .flatMap(({ metadata }) => (volumes.get(metadata.uid ?? "") ?? []).map(({ name }) => name)),
  );

/** Whether the order to go was lost or refused: the pod is there as if it had never been told. */
function isNotRequested({ uid }: Move, { pods, evictions }: DrainView): boolean {
  const pod = pods.find(({ metadata }) => metadata.uid === uid);
  return (
    pod !== undefined &&
    pod.metadata.deletionTimestamp == null &&
    (evictions.get(uid)?.state ?? "rejected") === "rejected"
  );
}

/** The moves that go on. */
function movesUnderWay(view: DrainView, terms: DrainTerms, now: Date): readonly MoveUnderWay[] {
  const podsHere = new Set(view.pods.map(({ metadata }) => metadata.uid ?? ""));
  return view.record.moves.flatMap((move) => {
    if (isNotRequested(move, view)) return [];
    const volumes = { ...view.attached, podsHere, sharedHere: sharedWithOthers(view, move.uid) };
    const progress = progressOf(move, volumes, terms.volumes, now);
    return progress.state === "done" ? [] : [{ move, progress }];
  });
}

/** Whether the next pod with volumes has to wait for this one. A volume that does not come loose in time is named, but holds nobody up. */
const holdsUp = ({ progress }: MoveUnderWay): boolean => progress.state === "reattaching" || !progress.isOverdue;

/** From when on a volume is away is remembered: its new place is waited for from then. */
const remembered = ({ move, progress }: MoveUnderWay): Move =>
  progress.state === "reattaching" && move.detachedAt === undefined
    ? { ...move, detachedAt: new Date(progress.since).toISOString() }
    : move;

const blockerOf = ({ move, progress }: MoveUnderWay): readonly Blocker[] => {
  if (progress.state === "leaving") return [];
  const volumes = progress.volumes.map(({ name }) => name);
  const isOverdue = progress.state === "detaching" && progress.isOverdue;
  return [{ kind: progress.state, pod: move.pod, volumes, isOverdue }];
};

/** What a pod that is not to be evicted is waited for. */
function waitingFor({ pod, key, verdict }: StayingPod): readonly Blocker[] {
  if (verdict.behaviour === "evict") return [];
  if (verdict.reason === "waitCompleted") return [{ kind: "completion", pod: key }];
  if (verdict.reason === "terminating") return [{ kind: "leaving", pod: key }];
  return [{ kind: "overdue", pod: key, finalizers: pod.metadata.finalizers ?? [] }];
}

/** Stores the moves when they are not as stored. */
function record({ record: stored }: DrainView, moves: readonly Move[]): readonly DrainAction[] {
  const textOf = (list: readonly Move[]): string =>
    list.map(({ uid, evictedAt, detachedAt = "" }) => `${uid}/${evictedAt}/${detachedAt}`).join();
  return textOf(moves) === textOf(stored.moves) ? [] : [{ kind: "RecordDrain", record: { moves } }];
}

/**
 * Empties a node: cordon, then evictions by order, budget and volume (see `planEvictions`), until no pod is left and no volume is awaited; when the deadline has passed the
 * rest is deleted. The one drain of the house: before a VM is deleted, before an in-place update, when a Failed machine is preserved, and in the dry run.
 */
export function decideDrain(view: DrainView, terms: DrainTerms, now: Date): DrainProgress {
  const nowMs = now.getTime();
  const staying = stayingPods(view, now);
  if (terms.mode === "force" || nowMs > terms.deadline) return force(view, terms, staying);

  const cordon = cordonOf(view, terms);
  const underWay = movesUnderWay(view, terms, now);
  const held = underWay.filter(holdsUp);
  if (staying.length === 0 && held.length === 0) {
    // A pod may have been bound until now: only a node that was empty after its cordon is.
    return cordon.length === 0
      ? { state: "drained", isForced: false, actions: record(view, []) }
      : { state: "draining", blockers: [], actions: cordon, requeueAfterMs: CORDON_CHECK_MS };
  }

  const plan = planEvictions(view, terms, staying, MOVES_AT_ONCE - held.length, now);
  const blockers = [...underWay.flatMap(blockerOf), ...plan.blockers, ...staying.flatMap(waitingFor)];
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
    // The record comes before the evictions: a volume that moves unrecorded would not be waited for.
    actions: [
      ...cordon,
      ...record(view, [...underWay.map(remembered), ...plan.moves]),
      ...plan.lookups,
      ...plan.actions,
    ],
    requeueAfterMs: Math.min(...requeueTimes.filter((at) => at > nowMs)) - nowMs,
  };
}
