import { isSameRecord } from "./lease.ts";
import type { LeaseRecord } from "./lease.ts";
import type { ElectionSettings } from "./settings.ts";

/** What an elector has observed of the lease. All times are of its own monotonic clock. */
export interface Observation {
  /** Undefined: there is no Lease object. */
  readonly record: LeaseRecord | undefined;
  /** When this state was first seen. */
  readonly sinceMs: number;
  /** The last observed holder, whose lease may still be valid although the object is deleted; since when it is seen to be deleted. */
  readonly former?: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
}

/** A term of this elector. */
export interface Term {
  /** Together with the identity it names the term in the lease. */
  readonly acquireTime: string;
  /** When the last renewal that was confirmed was *sent*: others cannot have seen it earlier. */
  readonly confirmedMs: number;
}

/** What an elector does next. */
export type ElectorStep =
  /** The lease has no holder, or it has expired: acquire it, with a precondition. */
  | { readonly kind: "acquire"; readonly transitions: number }
  | { readonly kind: "renew" }
  /** Another process holds it; check again, at the latest after so many milliseconds. */
  | { readonly kind: "follow"; readonly ms: number }
  /** The term is over: stop everything. */
  | { readonly kind: "lost"; readonly because: string };

/** The observation after another read: while the state is the same, the time when it was first seen is kept. */
export function observe(former: Observation | undefined, record: LeaseRecord | undefined, nowMs: number): Observation {
  if (record !== undefined) {
    const isKnown = former?.record !== undefined && isSameRecord(former.record, record);
    return { record, sinceMs: isKnown ? former.sinceMs : nowMs };
  }
  if (former === undefined) return { record, sinceMs: nowMs };
  if (former.record === undefined) return former;
  // It may have been renewed after it was seen last, and before it was deleted.
  return { record, sinceMs: nowMs, former: { record: former.record, sinceMs: nowMs } };
}

/**
 * Decides the next step of an elector. Pure. The rules that prevent two leaders:
 *
 * - the lease of another process is acquired only if it did not change for its whole duration, measured by the local clock: clocks of
 *   other machines, and the times in the lease, are never compared;
 * - the same applies to a lease that was observed before and is deleted, from when its deletion is seen;
 * - a lease with the own identity that is not of the own term belongs to another process: a former one, or one that has the
 *   same identity by mistake;
 * - a leader that could not renew until the deadline has lost, regardless of the lease, and before any other process may acquire it.
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
        because: record.holder === "" ? "the lease was released" : `${record.holder} holds the lease`,
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

/** What a candidate that needs several leases does next. */
export type CandidacyStep =
  /** All are free, or held by the candidate already. */
  | { readonly kind: "acquire" }
  /** Others hold some of them: check again, at the latest after so many milliseconds. */
  | { readonly kind: "follow"; readonly ms: number };

/**
 * Decides whether a candidate may acquire its leases: only all of them. Pure. Undefined while one was not read yet.
 *
 * @param steps what {@link decideElection} decided for each lease
 */
export function decideCandidacy(steps: readonly (ElectorStep | undefined)[]): CandidacyStep | undefined {
  let followMs: number | undefined;
  for (const step of steps) {
    if (step === undefined) return undefined;
    if (step.kind === "follow") followMs = Math.max(followMs ?? 0, step.ms);
  }
  return followMs === undefined ? { kind: "acquire" } : { kind: "follow", ms: followMs };
}
