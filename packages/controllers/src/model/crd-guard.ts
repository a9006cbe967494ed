import type { MachineKind } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { CrdState } from "./crd-state.ts";

/** What to do about the deletion of an object. */
export type DeletionVerdict =
  | { readonly verdict: "proceed" }
  /** What is known of the CRDs may be older than the deletion: they have to be read again first. */
  | { readonly verdict: "unknown" }
  /** The object is deleted only because of a CRD: nothing of it may be deleted. */
  | { readonly verdict: "paused"; readonly crd: CrdState };

/** The CustomResourceDefinitions of our kinds, as the API server has them. */
export interface CrdStates {
  stateOf(kind: MachineKind): CrdState;
  /** Calls `listener` after each change of a state. */
  onChange(listener: (kind: MachineKind) => void): void;
  /** Resolves when each CRD was read once, or reading it was forbidden; rejects with the reason of the signal when that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Whether {@link CrdStates.synced} has resolved. */
  hasSynced(): boolean;
  /** Runs until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Distinguishes deletions that are intended from those that come with the deletion of a CRD. */
export interface CrdGuard extends CrdStates {
  /** What to do about an object of a kind; the deletion of one that is not terminating proceeds. `hasStarted`: whether its status shows a stage of its deletion. */
  deletionVerdictOf(kind: MachineKind, object: ApiObject, hasStarted: boolean): DeletionVerdict;
  /**
   * Reads the CRDs that {@link CrdGuard.deletionVerdictOf} needs, for this object and for all others whose deletion was observed before.
   *
   * @throws ApiError when the API server does not respond
   */
  refresh(kind: MachineKind, object: ApiObject): Promise<void>;
  /** To be called before this process requests the deletion of an object, which then needs no {@link CrdGuard.refresh}. */
  recordDeletion(uid: string): void;
  /** Undoes {@link CrdGuard.recordDeletion}: the API server rejected the deletion. */
  forgetDeletion(uid: string): void;
}
