import type { ApiObject } from "@millwright/kube";
import { type Guard, type Hold, judge } from "../model/hold.ts";

/** What is decided, and from what. */
export interface GuardedDecision<T extends ApiObject, Decision> {
  /** In their order; none: nothing is ever held. */
  readonly guards: readonly Pick<Guard<T>, "of">[];
  /** The object as it is in the cache now. */
  readonly read: () => T | undefined;
  readonly decide: (object: T) => Decision;
  /** Instead of `decide`, for an object of which everything is held. */
  readonly decideHeld: (object: T, hold: Hold) => Decision;
}

/**
 * Asks the guards before a reconcile: decides about an object as soon as they know enough, and reads from the API server what they lack. The object is read and decided about in one turn of the event loop: a
 * deletion that came in between would otherwise count as examined.
 *
 * @returns the decision and its object; `undefined` when the object does not exist any more
 * @throws ApiError when the API server does not respond
 */
export async function decideGuarded<T extends ApiObject, Decision>({
  guards,
  read,
  decide,
  decideHeld,
}: GuardedDecision<T, Decision>): Promise<{ readonly object: T; readonly decision: Decision } | undefined> {
  for (;;) {
    const object = read();
    if (object === undefined) return undefined;
    const { hold, missing } = judge(guards, object);
    if (missing.length === 0)
      return { object, decision: hold === undefined ? decide(object) : decideHeld(object, hold) };
    await Promise.all(missing.map((facts) => facts.read()));
  }
}
