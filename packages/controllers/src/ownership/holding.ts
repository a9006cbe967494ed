import { eventReasons } from "@millwright/core";
import type { Decision, Reason } from "../model/decision.ts";

/** An object that others refer to, and what is known of them. */
export interface HoldingSnapshot {
  readonly kind: "MachineClass" | "Secret";
  readonly name: string;
  /** Whether the object carries our finalizer. */
  readonly isHeld: boolean;
  readonly isGoing: boolean;
  /** Whether it is terminating only because its CRD is. Default: not. */
  readonly isPausedByCrd?: boolean;
  /** Names of the objects that refer to it. */
  readonly referrers: readonly string[];
  readonly referrerKind: "Machine" | "MachineClass";
  /** Names of objects of that kind of which nobody can tell to what they refer. */
  readonly unreadable: readonly string[];
  /** Whether it was told before, by this process, that the object has to stay. */
  readonly isTold: boolean;
}

/** Everything that holding an object does to the world. */
export type HoldingAction = { readonly kind: "AddFinalizer" } | { readonly kind: "RemoveFinalizer" };

/** Names that a message lists at most. */
const NAMED = 3;

function stays({ kind, name, referrers, referrerKind, unreadable }: HoldingSnapshot): Reason {
  const names = (referrers.length > 0 ? referrers : unreadable).toSorted();
  const rest = names.length - NAMED;
  const list = `${names.slice(0, NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  const why =
    referrers.length > 0
      ? `until no ${referrerKind} refers to it; these do: ${list}`
      : `because it cannot be told to what ${referrerKind} ${list} refers; mend or delete what cannot be read`;
  return { type: "Warning", reason: eventReasons.stillInUse, message: `${kind} ${name} stays ${why}` };
}

/**
 * Keeps an object as long as others refer to it, by what is and not by what happened: a lost event neither leaks a finalizer nor takes one away. An
 * object that nobody refers to carries none; one that has to stay although somebody deletes it says so, once.
 */
export function decideHolding(snapshot: HoldingSnapshot): Decision<HoldingAction, never> {
  const { isHeld, isGoing, isPausedByCrd = false, referrers, unreadable, isTold } = snapshot;
  if (referrers.length > 0 && !isHeld)
    // The API server takes no new finalizer for an object that goes.
    return { actions: isGoing ? [] : [{ kind: "AddFinalizer" }], because: [] };
  if (!isHeld || (isGoing && isPausedByCrd)) return { actions: [], because: [] };
  if (referrers.length === 0 && unreadable.length === 0) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  return { actions: [], because: isGoing && !isTold ? [stays(snapshot)] : [] };
}
