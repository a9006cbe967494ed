import type { Move } from "./drain-record.ts";
import type { TrackedVolume } from "./volume-accounting.ts";

/** Where volumes are and who wants them, as far as moves go. */
export interface VolumeView {
  /** UIDs of the pods that are on the node. */
  readonly podsHere: ReadonlySet<string>;
  /** Names of volumes that are attached to the node. */
  readonly attachedHere: ReadonlySet<string>;
  /** Names of volumes that are attached to another node. */
  readonly attachedElsewhere: ReadonlySet<string>;
  /** Claims (`namespace/name`) that pods elsewhere use or wait for. */
  readonly wantedClaims: ReadonlySet<string>;
  /** Claims that only pods wait for which fit on no node, as the scheduler says. */
  readonly unplacedClaims: ReadonlySet<string>;
  /** Names of volumes that other pods on the node use as well: they stay as long as those do. */
  readonly sharedHere: ReadonlySet<string>;
}

/** How long volumes may take, milliseconds. */
export interface VolumeLimits {
  /** From the end of the grace period until the volumes have left the node. */
  readonly detachMs: number;
  /** From then until they are attached where their pod is now; 0: not waited for. */
  readonly reattachMs: number;
}

/** How far a move is. `overdue` ones are no longer waited for, but they are named. */
export type MoveProgress =
  | { readonly state: "leaving"; readonly until: number; readonly isOverdue: boolean }
  | {
      readonly state: "detaching";
      readonly volumes: readonly TrackedVolume[];
      readonly until: number;
      readonly isOverdue: boolean;
    }
  /** The volumes have left; from `since` on it is waited for their arrival. */
  | {
      readonly state: "reattaching";
      readonly volumes: readonly TrackedVolume[];
      readonly since: number;
      readonly until: number;
    }
  | { readonly state: "done" };

/** Controllers make the successor of a pod within this time; before, a volume that nobody wants may only look like it, milliseconds. */
const SUCCESSOR_MS = 5_000;

/**
 * A successor that fits on no node is waited for no longer than this, milliseconds: the scheduler tries again within ten seconds, so that what passes has passed; a node
 * that is to be made first takes longer than any wait for volumes.
 */
const UNPLACED_MS = 15_000;

/** How long the arrival of volumes is worth waiting for, however long the limit allows. */
function longestWaitMs({ isReplaced }: Move, missing: readonly TrackedVolume[], view: VolumeView): number {
  if (missing.some(({ claim }) => view.wantedClaims.has(claim))) return Number.POSITIVE_INFINITY;
  if (missing.some(({ claim }) => view.unplacedClaims.has(claim))) return UNPLACED_MS;
  return isReplaced ? SUCCESSOR_MS : 0;
}

/**
 * How far a pod and its volumes are, by level. Detaching is waited for because the successor cannot start before; attaching elsewhere only as long as some pod wants the
 * volume and has a place to go to, so that the next pod goes when this one serves again. Both are bounded: a drain must go on. How many pods may be away is for budgets to say.
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
