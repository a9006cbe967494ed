import type { Move } from "./drain-record.ts";
import type { TrackedVolume } from "./volume-accounting.ts";

/** Where volumes are attached, and which pods use them. */
export interface VolumeView {
  /** UIDs of the pods that are on the node. */
  readonly podsHere: ReadonlySet<string>;
  /** Names of volumes that are attached to the node. */
  readonly attachedHere: ReadonlySet<string>;
  /** Names of volumes that are attached to another node. */
  readonly attachedElsewhere: ReadonlySet<string>;
  /** Claims (`namespace/name`) that pods elsewhere use or wait for. */
  readonly wantedClaims: ReadonlySet<string>;
  /** Claims whose pods are all unschedulable. */
  readonly unplacedClaims: ReadonlySet<string>;
  /** Names of volumes that other pods on the node use as well: they stay attached as long as those pods run. */
  readonly sharedHere: ReadonlySet<string>;
}

/** Time limits of moves, milliseconds. */
export interface VolumeLimits {
  /** From the end of the grace period until the volumes have left the node. */
  readonly detachMs: number;
  /** From then until they are attached to the node of the replacement pod; 0: no wait. */
  readonly reattachMs: number;
}

/** Progress of a move. An `overdue` one no longer blocks, but is reported. */
export type MoveProgress =
  | { readonly state: "leaving"; readonly until: number; readonly isOverdue: boolean }
  | {
      readonly state: "detaching";
      readonly volumes: readonly TrackedVolume[];
      readonly until: number;
      readonly isOverdue: boolean;
    }
  /** The volumes are detached; the wait for their attachment counts from `since`. */
  | {
      readonly state: "reattaching";
      readonly volumes: readonly TrackedVolume[];
      readonly since: number;
      readonly until: number;
    }
  | { readonly state: "done" };

/** Controllers create a replacement within this time; before, a volume may only seem to be unused, milliseconds. */
const SUCCESSOR_MS = 5_000;

/**
 * An unschedulable replacement is waited for at most this long, milliseconds: the scheduler retries within ten seconds, which resolves temporary causes; a new
 * node would take longer than any wait for volumes.
 */
const UNPLACED_MS = 15_000;

/** Maximum wait for attachments, regardless of the limit. */
function longestWaitMs({ isReplaced }: Move, missing: readonly TrackedVolume[], view: VolumeView): number {
  if (missing.some(({ claim }) => view.wantedClaims.has(claim))) return Number.POSITIVE_INFINITY;
  if (missing.some(({ claim }) => view.unplacedClaims.has(claim))) return UNPLACED_MS;
  return isReplaced ? SUCCESSOR_MS : 0;
}

/**
 * Progress of a pod and its volumes, level-based. The drain waits for detaching because the replacement cannot start before; for attaching only as long as some pod uses the
 * volume and can be scheduled, so that the next pod is evicted when this one is back in service. Both waits are limited. Budgets decide how many pods may be unavailable.
 */
export function progressOf(move: Move, view: VolumeView, limits: VolumeLimits, now: Date): MoveProgress {
  const nowMs = now.getTime();
  const until = Date.parse(move.evictedAt) + move.graceSeconds * 1000 + limits.detachMs;
  const isOverdue = nowMs > until;
  if (view.podsHere.has(move.uid)) return { state: "leaving", until, isOverdue };
  const own = move.volumes.filter(({ name }) => !view.sharedHere.has(name));
  const here = own.filter(({ name }) => view.attachedHere.has(name));
  if (here.length > 0) return { state: "detaching", volumes: here, until, isOverdue };
  const missing = own.filter(({ name }) => !view.attachedElsewhere.has(name));
  const since = move.detachedAt === undefined ? nowMs : Date.parse(move.detachedAt);
  const waitMs = Math.min(longestWaitMs(move, missing, view), limits.reattachMs);
  if (missing.length === 0 || nowMs >= since + waitMs) return { state: "done" };
  return { state: "reattaching", volumes: missing, since, until: since + waitMs };
}
