import type { MachineKind } from "@millwright/core";
import type { ApiObject } from "@millwright/kube";
import type { Hold } from "../model/crd-guard.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import { type CrdState, isTerminatingOrDeleted } from "../model/crd-state.ts";

/** What is known about the definitions on which a set or deployment hangs. */
export interface Footing {
  /** Definition of the object's own kind. */
  readonly own: CrdState;
  /** Definitions of the kinds that it owns, directly or not. */
  readonly below: readonly CrdState[];
  readonly isDeleting: boolean;
  /** Of its deletion. */
  readonly hold: Hold;
}

/**
 * The definition because of which an object stands still, if any: it makes, scales and deletes nothing while what it owns is being taken away, or while it is only on its way out
 * because its own definition is. A deletion that somebody asked for before goes on.
 */
export function standstillBy({ own, below, isDeleting, hold }: Footing): CrdState | undefined {
  const falling = below.find(isTerminatingOrDeleted);
  if (falling !== undefined) return falling;
  if (isDeleting) return hold.verdict === "held" ? hold.definition : undefined;
  return isTerminatingOrDeleted(own) ? own : undefined;
}

/** What is decided about, and from what. */
export interface Consideration<T extends ApiObject, Decided> {
  /** Default: nothing ever stands still. */
  readonly guard: Pick<CrdGuard, "stateOf" | "holdOf" | "ask"> | undefined;
  readonly kind: MachineKind;
  /** Kinds that objects of the kind own, directly or not. */
  readonly below: readonly MachineKind[];
  /** The object as it is in the cache now. */
  readonly read: () => T | undefined;
  /** `standstill`: see {@link standstillBy}. */
  readonly decide: (object: T, standstill: CrdState | undefined) => Decided;
}

/**
 * Decides about an object as soon as it is known whether its deletion, if there is one, is meant; asks the API server where the guard does not know. Observed and decided in one turn of
 * the event loop: a mark that came in between would be taken for one that was looked into.
 *
 * @returns what was decided; `undefined` when the object is gone
 * @throws ApiError when the API server does not answer
 */
export async function decideWhenKnown<T extends ApiObject, Decided>({
  guard,
  kind,
  below,
  read,
  decide,
}: Consideration<T, Decided>): Promise<Decided | undefined> {
  for (;;) {
    const object = read();
    if (object === undefined) return undefined;
    if (guard === undefined) return decide(object, undefined);
    const hold = guard.holdOf(kind, object, false);
    const isDeleting = object.metadata.deletionTimestamp !== undefined;
    const definition = standstillBy({ own: guard.stateOf(kind), below: below.map(guard.stateOf), isDeleting, hold });
    if (definition !== undefined || hold.verdict !== "ask") return decide(object, definition);
    await guard.ask(kind, object);
  }
}
