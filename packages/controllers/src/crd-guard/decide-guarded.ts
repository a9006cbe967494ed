import type { MachineKind } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import type { CrdGuard, DeletionVerdict } from "../model/crd-guard.ts";
import { type CrdState, isTerminatingOrDeleted } from "../model/crd-state.ts";

/** What the guard knows about an object that owns others. */
export interface OwnerState {
  /** CRD of the object's own kind. */
  readonly own: CrdState;
  /** CRDs of the kinds that it owns, directly or not. */
  readonly owned: readonly CrdState[];
  readonly isDeleting: boolean;
  /** On its deletion. */
  readonly verdict: DeletionVerdict;
}

/**
 * The CRD that pauses an object, if any: it creates, scales and deletes nothing while the objects that it owns are deleted with their CRD, or while it is terminating only because its own
 * CRD is. A deletion that was requested before continues.
 */
export function pausedBy({ own, owned, isDeleting, verdict }: OwnerState): CrdState | undefined {
  const lost = owned.find(isTerminatingOrDeleted);
  if (lost !== undefined) return lost;
  if (isDeleting) return verdict.verdict === "paused" ? verdict.crd : undefined;
  return isTerminatingOrDeleted(own) ? own : undefined;
}

/** What is decided, and from what. */
export interface GuardedDecision<T extends ApiObject, Decision> {
  /** Default: nothing is ever paused. */
  readonly guard: Pick<CrdGuard, "stateOf" | "deletionVerdictOf" | "refresh"> | undefined;
  readonly kind: MachineKind;
  /** Kinds that objects of the kind own, directly or not. */
  readonly ownedKinds: readonly MachineKind[];
  /** The object as it is in the cache now. */
  readonly read: () => T | undefined;
  readonly decide: (object: T) => Decision;
  /** Instead of `decide`, for an object that is paused. */
  readonly decidePaused: (object: T, crd: CrdState) => Decision;
}

/**
 * The guard before a reconcile: decides about an object as soon as it is known whether its deletion, if there is one, is intended, and reads the CRDs from the API server where that is
 * unknown. The object is read and decided about in one turn of the event loop: a deletion that came in between would otherwise count as examined.
 *
 * @returns the decision and its object; `undefined` when the object does not exist any more
 * @throws ApiError when the API server does not respond
 */
export async function decideGuarded<T extends ApiObject, Decision>({
  guard,
  kind,
  ownedKinds,
  read,
  decide,
  decidePaused,
}: GuardedDecision<T, Decision>): Promise<{ readonly object: T; readonly decision: Decision } | undefined> {
  for (;;) {
    const object = read();
    if (object === undefined) return undefined;
    if (guard === undefined) return { object, decision: decide(object) };
    const verdict = guard.deletionVerdictOf(kind, object, false);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    const crd = pausedBy({ own: guard.stateOf(kind), owned: ownedKinds.map(guard.stateOf), isDeleting, verdict });
    if (crd !== undefined) return { object, decision: decidePaused(object, crd) };
    if (verdict.verdict !== "unknown") return { object, decision: decide(object) };
    await guard.refresh(kind, object);
  }
}
