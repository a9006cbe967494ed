import type { MachineKind } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import type { CrdState } from "./crd-state.ts";

/** What may be done about an object that is on its way out. */
export type Hold =
  | { readonly verdict: "goes" }
  /** Whether the definitions stand has to be asked first: what is known of them may be older than the deletion. */
  | { readonly verdict: "ask" }
  /** It is on its way out because of a definition: nothing of it may be taken away. */
  | { readonly verdict: "held"; readonly definition: CrdState };

/** Tells deletions that somebody wants from those that come with the deletion of a definition. */
export interface CrdGuard {
  stateOf(kind: MachineKind): CrdState;
  /** Calls `listener` after each change of a state. */
  onChange(listener: (kind: MachineKind) => void): void;
  /** Resolves when the first answer about each definition is there, be it a refusal; rejects with the reason of the signal when that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** What may be done about an object of a kind; one that is not on its way out is not held. `hasBegun`: whether its status says that it is being taken apart. */
  holdOf(kind: MachineKind, object: ApiObject, hasBegun: boolean): Hold;
  /**
   * Asks the API server what {@link CrdGuard.holdOf} has to know, for this object and for all others whose deletion has been seen by now.
   *
   * @throws ApiError when it does not answer
   */
  ask(kind: MachineKind, object: ApiObject): Promise<void>;
  /** Call it before this process asks for the deletion of an object: that deletion needs no question. */
  noteAsked(uid: string): void;
  /** Undoes {@link CrdGuard.noteAsked}: the API server refused the deletion. */
  takeBack(uid: string): void;
}
