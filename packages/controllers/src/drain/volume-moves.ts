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
 * How far a pod and its volumes are, by level. Detaching is waited for because the successor cannot start before; attaching elsewhere only as long as some pod wants the
 * volume, so that the next pod goes when this one serves again. Both are bounded: a drain must go on.
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
  const isWanted = missing.some(({ claim }) => view.wantedClaims.has(claim));
  const since = move.detachedAt === undefined ? nowMs : Date.parse(move.detachedAt);
  const waitMs = isWanted ? limits.reattachMs : move.isReplaced ? Math.min(SUCCESSOR_MS, limits.reattachMs) : 0;
  if (missing.length === 0 || nowMs >= since + waitMs) return { state: "done" };
  return { state: "reattaching", volumes: missing, since, until: since + waitMs };
}
