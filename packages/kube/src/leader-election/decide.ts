import { isSameRecord } from "./lease.ts";
import type { LeaseRecord } from "./lease.ts";
import type { ElectionSettings } from "./settings.ts";

/** What an elector has seen of the lease. All times are of its own monotonic clock. */
export interface Observation {
  /** Undefined: there is no Lease object. */
  readonly record: LeaseRecord | undefined;
  /** When this state was first seen. */
  readonly sinceMs: number;
  /** The last holder that was seen, while its lease may still be good although the object is gone. */
  readonly former?: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
}

/** A term of its own. */
export interface Term {
  /** Together with the identity it names the term in the lease. */
  readonly acquireTime: string;
  /** When the last renewal that was confirmed was *sent*: others cannot have seen it earlier. */
  readonly confirmedMs: number;
}

/** What an elector does next. */
export type ElectorStep =
  /** Nobody has the lease, or not any more: take it, with a precondition. */
  | { readonly kind: "acquire"; readonly transitions: number }
  | { readonly kind: "renew" }
  /** Somebody else has it; look again, at the latest after so many milliseconds. */
  | { readonly kind: "follow"; readonly ms: number }
  /** The term is over: stop everything, for good. */
  | { readonly kind: "lost"; readonly because: string };

/** What is known after another reading: as long as the state is the same, the time of its first sight counts. */
export function observe(former: Observation | undefined, record: LeaseRecord | undefined, nowMs: number): Observation {
  if (record !== undefined) {
    const isKnown = former?.record !== undefined && isSameRecord(former.record, record);
    return { record, sinceMs: isKnown ? former.sinceMs : nowMs };
  }
  if (former === undefined) return { record, sinceMs: nowMs };
  if (former.record === undefined) return former;
  return { record, sinceMs: nowMs, former: { record: former.record, sinceMs: former.sinceMs } };
}

/**
 * Decides what an elector does. Pure. The rules that keep two from leading at once:
 *
 * - the lease of another is taken only when it did not change for all of its duration, as seen and measured here: clocks of
 *   other machines, and the times in the lease, are never compared;
 * - the same goes for a lease that was deleted, for those who saw it;
 * - a lease with one's own identity that is not of one's own term belongs to somebody else: a former process, or one that was given the
 *   same identity by mistake;
 * - who could not renew until the deadline has lost, whatever the lease says, and before anybody may take it.
 */
export function decideElection(input: {
  readonly identity: string;
  readonly term: Term | undefined;
  readonly observation: Observation;
  readonly nowMs: number;
  readonly settings: ElectionSettings;
}): ElectorStep {
  const { identity, term, observation, nowMs, settings } = input;
  const { record } = observation;
  if (term !== undefined) {
    if (nowMs >= term.confirmedMs + settings.renewDeadlineMs) {
      return { kind: "lost", because: `the lease could not be renewed for ${settings.renewDeadlineMs} ms` };
    }
    if (record !== undefined && record.holder !== identity) {
      return {
        kind: "lost",
        because: record.holder === "" ? "the lease was given away" : `${record.holder} has the lease`,
      };
    }
    if (record !== undefined && record.acquireTime !== term.acquireTime) {
      return { kind: "lost", because: "another process uses the same identity" };
    }
    return { kind: "renew" };
  }
  const held = record === undefined ? observation.former : { record, sinceMs: observation.sinceMs };
  if (held === undefined || held.record.holder === "") {
    return { kind: "acquire", transitions: held === undefined ? 0 : held.record.transitions + 1 };
  }
  const freeMs = held.sinceMs + (held.record.durationMs ?? settings.leaseDurationMs);
  if (nowMs >= freeMs) return { kind: "acquire", transitions: held.record.transitions + 1 };
  return { kind: "follow", ms: freeMs - nowMs };
}
