import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decideElection, observe } from "./decide.ts";
import type { Observation } from "./decide.ts";
import type { LeaseRecord } from "./lease.ts";
import { readElectionTimes } from "./settings.ts";

const settings = readElectionTimes();
const times = fc.constantFrom("t1", "t2", "t3", "");

const record: fc.Arbitrary<LeaseRecord> = fc.record({
  holder: fc.constantFrom("me", "other", "third", ""),
  durationMs: fc.constantFrom(undefined, 1_000, 15_000, 60_000),
  acquireTime: times,
  renewTime: times,
  transitions: fc.nat(3),
});

const reading = fc.record({ record: fc.option(record, { nil: undefined }), afterMs: fc.nat(20_000) });

/** What an elector knows after some readings, at most an hour after the last of them. */
const situation = fc
  .record({
    readings: fc.array(reading, { minLength: 1, maxLength: 8 }),
    sinceLastMs: fc.oneof(fc.nat(20_000), fc.nat(3_600_000)),
    term: fc.option(fc.record({ acquireTime: times, ageMs: fc.nat(20_000) }), { nil: undefined }),
  })
  .map(({ readings, sinceLastMs, term }) => {
    let nowMs = 1_000_000;
    let observation: Observation | undefined;
    const seen: { readonly record: LeaseRecord | undefined; readonly atMs: number }[] = [];
    for (const { record, afterMs } of readings) {
      nowMs += afterMs;
      observation = observe(observation, record, nowMs);
      seen.push({ record, atMs: nowMs });
    }
    nowMs += sinceLastMs;
    return {
      seen,
      nowMs,
      observation: observation ?? { record: undefined, sinceMs: nowMs },
      term: term === undefined ? undefined : { acquireTime: term.acquireTime, confirmedMs: nowMs - term.ageMs },
    };
  });

const decide = (given: Omit<Parameters<typeof decideElection>[0], "identity" | "settings">) =>
  decideElection({ identity: "me", settings, ...given });

test("acquires no lease that may still be held: only after it did not change for its whole duration", () => {
  fc.assert(
    fc.property(situation, ({ seen, nowMs, observation }) => {
      const step = decide({ term: undefined, observation, nowMs });
      // The model goes through what was seen from the end: since when has nothing been renewed?
      const last = seen.findLast(({ record }) => record !== undefined)?.record;
      let sinceMs = 0;
      let deletedMs = 0;
      for (const { record, atMs } of seen.toReversed()) {
        if (record === undefined) {
          if (sinceMs === 0) deletedMs = atMs;
          continue;
        }
        if (last === undefined || JSON.stringify(record) !== JSON.stringify(last)) break;
        sinceMs = atMs;
      }
      // A deletion in between hides whether it changed: then a later observation counts as well, never an earlier one.
      const fromMs = Math.max(sinceMs, deletedMs);
      const isFree = last === undefined || last.holder === "" || nowMs >= fromMs + (last.durationMs ?? 15_000);
      expect(step.kind === "acquire" && !isFree).toBe(false);
      expect(["acquire", "follow"]).toContain(step.kind);
    }),
    { numRuns: 2_000 },
  );
});

test("acquires every lease in the end, after the announced time", () => {
  fc.assert(
    fc.property(situation, ({ nowMs, observation }) => {
      const step = decide({ term: undefined, observation, nowMs });
      const waitMs = step.kind === "follow" ? step.ms : 0;
      expect(waitMs).toBeLessThanOrEqual(60_000);
      expect(decide({ term: undefined, observation, nowMs: nowMs + waitMs }).kind).toBe("acquire");
    }),
  );
});

test("loses at the deadline in any case, and at once when the lease is not of its term", () => {
  fc.assert(
    fc.property(situation, ({ nowMs, observation, term }) => {
      if (term === undefined) return;
      const { record } = observation;
      const isLate = nowMs >= term.confirmedMs + settings.renewDeadlineMs;
      const isForeign = record !== undefined && (record.holder !== "me" || record.acquireTime !== term.acquireTime);
      expect(decide({ term, observation, nowMs }).kind).toBe(isLate || isForeign ? "lost" : "renew");
    }),
    { numRuns: 2_000 },
  );
});

test("waits for the end of a lease of a former process with its own identity", () => {
  const record: LeaseRecord = { holder: "me", durationMs: 15_000, acquireTime: "t", renewTime: "t", transitions: 4 };
  const observation = observe(undefined, record, 0);
  expect(decide({ term: undefined, observation, nowMs: 14_999 })).toEqual({ kind: "follow", ms: 1 });
  expect(decide({ term: undefined, observation, nowMs: 15_000 })).toEqual({ kind: "acquire", transitions: 5 });
});

test("waits for the whole duration of a lease that was observed before, once it is deleted: its last renewal may not have been seen", () => {
  const record: LeaseRecord = { holder: "other", durationMs: 15_000, acquireTime: "t", renewTime: "t", transitions: 4 };
  const deleted = observe(observe(undefined, record, 0), undefined, 5_000);
  expect(decide({ term: undefined, observation: deleted, nowMs: 6_000 })).toEqual({ kind: "follow", ms: 14_000 });
  expect(decide({ term: undefined, observation: observe(undefined, undefined, 0), nowMs: 0 })).toEqual({
    kind: "acquire",
    transitions: 0,
  });
});
