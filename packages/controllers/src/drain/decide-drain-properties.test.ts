import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ModelPod, runDrainModel } from "../testing/drain-model.ts";
import { drainTerms } from "../testing/drain-views.ts";
import { testNow } from "../testing/snapshots.ts";

const startMs = testNow.getTime();
/** Ten minutes of evictions, forced after fifteen. */
const terms = drainTerms({
  evictUntil: startMs + 10 * 60_000,
  deadline: startMs + 15 * 60_000,
  volumes: { detachMs: 60_000, reattachMs: 30_000 },
});

const seconds = fc.integer({ min: 0, max: 40 });
const sound: fc.Arbitrary<ModelPod> = fc.record({
  app: fc.integer({ min: 0, max: 2 }),
  hasVolume: fc.boolean(),
  priority: fc.integer({ min: 0, max: 3 }),
  endsAfter: seconds,
  detachAfter: seconds,
  attachAfter: seconds,
  hasRoom: fc.constant(true),
});
const stubborn: fc.Arbitrary<ModelPod> = fc.record({
  app: fc.integer({ min: 0, max: 2 }),
  hasVolume: fc.boolean(),
  priority: fc.integer({ min: 0, max: 3 }),
  endsAfter: fc.option(seconds, { nil: undefined }),
  detachAfter: fc.option(seconds, { nil: undefined }),
  attachAfter: fc.option(seconds, { nil: undefined }),
  hasRoom: fc.boolean(),
});
const minAvailable = fc.integer({ min: 0, max: 4 });
const restarts = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 5 }).map((list) => new Set(list));

describe("every drain", () => {
  it("ends by its deadline, and until then names what it waits for", () => {
    fc.assert(
      fc.property(fc.array(stubborn, { maxLength: 12 }), minAvailable, restarts, (pods, available, lost) => {
        const run = runDrainModel(pods, available, terms, lost);
        expect(run.tookMs).toBeLessThanOrEqual(15 * 60_000 + 1_000);
        expect(run.silent).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it("deletes no pod past its budget before the time for that", () => {
    fc.assert(
      fc.property(fc.array(stubborn, { maxLength: 12 }), minAvailable, restarts, (pods, available, lost) => {
        expect(runDrainModel(pods, available, terms, lost).violations).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it("requests few evictions that must be rejected, and evicts no pod twice", () => {
    fc.assert(
      fc.property(fc.array(sound, { maxLength: 12 }), minAvailable, (pods, available) => {
        const run = runDrainModel(pods, available, terms);
        expect(run.rejected).toBe(0);
        expect(run.requested).toBeLessThanOrEqual(pods.length);
        expect(run.repeated).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it("evicts pods with volumes one after another", () => {
    fc.assert(
      fc.property(fc.array(sound, { maxLength: 12 }), (pods) => {
        expect(runDrainModel(pods, 0, terms).mostMoving).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });

  it("of sound pods without budgets is not forced", () => {
    fc.assert(
      fc.property(fc.array(sound, { maxLength: 6 }), (pods) => {
        expect(runDrainModel(pods, 0, terms).isForced).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it("of a whole fleet does not wait for nodes that do not exist", () => {
    const patient = { ...terms, volumes: { detachMs: 60_000, reattachMs: 90_000 } };
    const homeless = sound.map((pod) => ({ ...pod, hasVolume: true, hasRoom: false }));
    fc.assert(
      fc.property(fc.array(homeless, { minLength: 1, maxLength: 6 }), (pods) => {
        const run = runDrainModel(pods, 0, patient);
        const busy = pods.reduce((sum, pod) => sum + (pod.endsAfter ?? 0) + (pod.detachAfter ?? 0), 0);
        // 15 s per pod to be scheduled, and a reconcile every two seconds.
        expect(run.tookMs).toBeLessThanOrEqual(busy * 1000 + pods.length * 25_000);
        // A pod that terminates and releases its volume at once is never seen moving.
        expect(run.mostMoving).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });
});
