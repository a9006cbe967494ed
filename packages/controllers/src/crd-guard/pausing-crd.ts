import type { MachineKind } from "@millwright/core/machine-api";
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

/** Kinds that objects of a kind own, directly or not. */
const ownedKinds = {
  MachineSet: ["Machine"],
  MachineDeployment: ["MachineSet", "Machine"],
} as const satisfies Partial<Record<MachineKind, readonly MachineKind[]>>;

/** The CRD that pauses a set or a deployment now, if any. */
export const pausingCrdOf = (
  guard: Pick<CrdGuard, "stateOf">,
  kind: keyof typeof ownedKinds,
  { metadata }: ApiObject,
  verdict: DeletionVerdict,
): CrdState | undefined =>
  pausedBy({
    own: guard.stateOf(kind),
    owned: ownedKinds[kind].map((each) => guard.stateOf(each)),
    isDeleting: metadata.deletionTimestamp !== undefined,
    verdict,
  });
