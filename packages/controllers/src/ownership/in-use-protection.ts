import { eventReasons } from "@millwright/core/machine-api";
import type { Decision, Reason } from "../model/decision.ts";

/** An object that others refer to, and the objects that do. */
export interface InUseSnapshot {
  readonly kind: "MachineClass" | "Secret";
  readonly name: string;
  /** Whether the object carries our finalizer. */
  readonly hasFinalizer: boolean;
  readonly isTerminating: boolean;
  /** Whether its deletion is held. Default: not. */
  readonly isHeld?: boolean;
  /** Names of the objects that refer to it. */
  readonly referrers: readonly string[];
  readonly referrerKind: "Machine" | "MachineClass";
  /** Names of objects of that kind whose references cannot be read. */
  readonly unreadable: readonly string[];
  /** Whether this process has reported the blocked deletion. */
  readonly isReported: boolean;
}

/** What the protection of an object writes. */
export type InUseAction = { readonly kind: "AddFinalizer" } | { readonly kind: "RemoveFinalizer" };

/** Maximum number of names in a message. */
const NAMED = 3;

function stillInUse({ kind, name, referrers, referrerKind, unreadable }: InUseSnapshot): Reason {
  const names = (referrers.length > 0 ? referrers : unreadable).toSorted();
  const rest = names.length - NAMED;
  const list = `${names.slice(0, NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  const why =
    referrers.length > 0
      ? `still referenced by ${referrerKind} ${list}`
      : `${referrerKind} ${list} cannot be read and may refer to it; fix or delete it`;
  return { type: "Warning", reason: eventReasons.stillInUse, message: `Cannot delete ${kind} ${name}: ${why}` };
}

/**
 * Keeps an object while others refer to it, based on state and not on events: a lost event neither leaks nor removes a finalizer. An
 * unreferenced object has no finalizer; a blocked deletion is reported once.
 */
export function decideInUseProtection(snapshot: InUseSnapshot): Decision<InUseAction, never> {
  const { hasFinalizer, isTerminating, isHeld = false, referrers, unreadable, isReported } = snapshot;
  if (referrers.length > 0 && !hasFinalizer)
    // The API server accepts no new finalizer for a terminating object.
    return { actions: isTerminating ? [] : [{ kind: "AddFinalizer" }], because: [] };
  if (!hasFinalizer || (isTerminating && isHeld)) return { actions: [], because: [] };
  if (referrers.length === 0 && unreadable.length === 0) return { actions: [{ kind: "RemoveFinalizer" }], because: [] };
  return { actions: [], because: isTerminating && !isReported ? [stillInUse(snapshot)] : [] };
}
