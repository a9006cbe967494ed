import type { DeletionHold } from "@millwright/core/machine-api";
import type { ConditionState, SyncedCache } from "@millwright/kube";
import type { BoundApproval } from "./approval.ts";
import type { Reason } from "./decision.ts";

/** The object whose annotation ends a hold: the deployment, the set without one, or the Machine without either. */
export interface Approver {
  readonly kind: "MachineDeployment" | "MachineSet" | "Machine";
  readonly name: string;
  /** What approves just what is held. Absent: another message has it. */
  readonly approval?: BoundApproval;
}

/** Why an object is not acted on. All readers print message and remedy; none has to know who holds. */
export interface Hold {
  /** The guard that holds: label of the metrics. */
  readonly by: string;
  /**
   * What is held of the object; `everything`: its status is written, and nothing else. Of sets and deployments: their own deletion, the creation of machines, or the replacement of those that exist. Their guards hold
   * everything: see `decideGuarded`.
   */
  readonly holds: "deletion" | "creation" | "replacement" | "everything";
  /** Sentences for people: what is held, why, and what helps. Empty while that is not known yet: nothing is reported then. */
  readonly message: string;
  /** What people can do, a sentence without its full stop. */
  readonly remedy: string;
  /** The object whose annotation ends the hold. Absent: none does. */
  readonly approver?: Approver;
  /** When to look again, milliseconds. Absent: `onChange` of the guard is enough. */
  readonly requeueAfterMs?: number;
  /** Whether it is not known yet if there is something to hold. Default: it is. */
  readonly isUnknown?: boolean;
  /** The event of the object when the hold begins. Absent: another object has it. */
  readonly event?: Pick<Reason, "type" | "reason">;
  /** The condition of a set or a deployment, whose message is that of the hold. Absent: none shows it. */
  readonly condition?: Omit<ConditionState, "message">;
  /** Why a person has to act before a Machine is deleted: reason of its condition Stalled. Absent: the hold ends by itself. */
  readonly stalls?: DeletionHold;
  /** Whether a Machine stays in its phase, because its VM is in service and MCM must not continue. Default: it is Terminating. */
  readonly keepsPhase?: boolean;
}

/** What holds this of an object; `undefined` while nothing does. */
export const holdOn = (holds: readonly Hold[] | undefined, what: Hold["holds"]): Hold | undefined =>
  holds?.find((hold) => hold.holds === what);

/** What a guard lacks to judge an object. */
export interface MissingFacts {
  /**
   * Reads it from the API server.
   *
   * @throws ApiError when the API server does not respond
   */
  read(): Promise<unknown>;
  /** Whether it may turn out that a hold keeps the phase of a Machine. Default: not. */
  readonly mayKeepPhase?: boolean;
}

/** What a guard answers about an object. */
export type GuardVerdict = Hold | "proceed" | MissingFacts;

/** One reason not to act on objects of a kind. Controllers ask all guards, in order, before they decide. */
export interface Guard<T> {
  /** The `by` of its holds. */
  readonly name: string;
  /** What must be known before it judges. Absent: nothing. */
  readonly waitFor?: SyncedCache;
  /** Judges an object by what is known now. Sends no request, and may be called at any time. */
  of(object: T): GuardVerdict;
  /** Uses what the guard rations, for an object that it does not hold. To be called in the turn of the event loop in which the object was judged. Absent: it rations nothing. */
  enter?(object: T): void;
  /** Calls `listener` with an object whose verdict may have changed. Absent: a change of the object shows it. */
  onChange?(listener: (object: T) => void): void;
  /** Forgets an object that does not exist any more, by its UID. Absent: nothing is remembered. */
  forget?(uid: string): void;
}

/** The verdict of all guards about an object. */
export interface Judgment {
  /** Of the first guard that holds. Absent: none does. */
  readonly hold?: Hold;
  /** What guards before that lack; with any of it, nothing may be decided. */
  readonly missing: readonly MissingFacts[];
}

/** Asks the guards in their order, up to the first that holds. */
export function judge<T>(guards: readonly Pick<Guard<T>, "of">[], object: T): Judgment {
  const missing: MissingFacts[] = [];
  for (const guard of guards) {
    const verdict = guard.of(object);
    if (verdict === "proceed") continue;
    if (!("read" in verdict)) return { hold: verdict, missing };
    missing.push(verdict);
  }
  return { missing };
}
