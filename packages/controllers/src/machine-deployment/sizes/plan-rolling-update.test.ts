import { resolveFenceposts } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newSetReplicas, planRollingUpdate } from "./plan-rolling-update.ts";
import { type RolloutBounds } from "../state/rollout-bounds.ts";
import { type SetSize, sum } from "../state/set-size.ts";

const bounds = (replicas: number, maxSurge: number, maxUnavailable: number): RolloutBounds => ({
  replicas,
  maxSurge,
  maxUnavailable,
});
/** A set of that size; by default all its machines exist and are available. */
const size = (name: string, spec: number, available = spec, existing = spec): SetSize => ({
  name,
  spec,
  existing,
  available,
});
const planOf = (...given: Parameters<typeof planRollingUpdate>): Record<string, number> =>
  Object.fromEntries(planRollingUpdate(...given));

it("counts no more available machines of the new set than its replicas: the rest will be deleted", () => {
  expect(planOf(bounds(3, 1, 0), size("new", 1, 3, 3), [size("old", 3)])).toEqual({ old: 2 });
});

describe("newSetReplicas", () => {
  it.each<[string, RolloutBounds, number, readonly SetSize[], number]>([
    ["grows into what is left of the surge", bounds(5, 2, 0), 2, [size("old", 4), size("new", 2)], 3],
    ["does not grow into a surge that is used up", bounds(5, 2, 0), 3, [size("old", 4), size("new", 3)], 3],
    ["starts as large as the surge", bounds(3, 1, 0), 0, [size("old", 3)], 1],
    ["starts with nothing where there is no room", bounds(3, 0, 1), 0, [size("old", 3)], 0],
    ["takes all when it is alone", bounds(3, 1, 0), 0, [], 3],
    ["grows to the replicas, not into the surge", bounds(3, 5, 0), 2, [size("new", 2)], 3],
    ["shrinks to the replicas", bounds(3, 1, 0), 7, [size("new", 7)], 3],
    [
      "counts desired machines that do not exist yet, once",
      bounds(3, 1, 0),
      1,
      [size("old", 3), size("new", 1, 0, 0)],
      1,
    ],
    ["counts terminating machines: they use quota", bounds(3, 1, 0), 1, [size("old", 2, 2, 3), size("new", 1)], 1],
  ])("%s", (_, given, current, sets, expected) => {
    expect(newSetReplicas(given, current, sets)).toBe(expected);
  });
});

describe("planRollingUpdate", () => {
  it.each<[string, RolloutBounds, SetSize, readonly SetSize[], Record<string, number>]>([
    ["surges first", bounds(3, 1, 0), size("new", 0), [size("old", 3)], { new: 1 }],
    ["waits for the surge to serve", bounds(3, 1, 0), size("new", 1, 0), [size("old", 3)], {}],
    ["deletes an old machine for a new one that serves", bounds(3, 1, 0), size("new", 1), [size("old", 3)], { old: 2 }],
    ["waits for the old machine to be gone", bounds(3, 1, 0), size("new", 1), [size("old", 2, 2, 3)], {}],
    ["grows when the old machine is gone", bounds(3, 1, 0), size("new", 1), [size("old", 2)], { new: 2 }],
    ["takes the last old machine", bounds(3, 1, 0), size("new", 3), [size("old", 1)], { old: 0 }],
    ["has nothing to do when it is done", bounds(3, 1, 0), size("new", 3), [size("old", 0)], {}],
    ["deletes first where there is no surge", bounds(3, 0, 1), size("new", 0), [size("old", 3)], { old: 2 }],
    ["may do both at once", bounds(10, 3, 2), size("new", 0), [size("old", 10)], { new: 3, old: 8 }],
    ["holds what serves while the new machines do not", bounds(10, 3, 2), size("new", 5, 0), [size("old", 8)], {}],
    ["frees as many old machines as new ones serve", bounds(10, 3, 2), size("new", 5), [size("old", 8)], { old: 3 }],
    [
      "deletes machines that do not serve, although too few serve",
      bounds(3, 1, 0),
      size("new", 1, 0),
      [size("old", 3, 1)],
      {},
    ],
    [
      "deletes unhealthy machines before serving ones, the oldest set first",
      bounds(4, 1, 2),
      size("new", 1),
      [size("oldest", 2, 2), size("older", 2, 0)],
      { older: 0, oldest: 1 },
    ],
    [
      "scales down the oldest set first",
      bounds(4, 0, 2),
      size("new", 0),
      [size("oldest", 1), size("older", 3)],
      { oldest: 0, older: 2 },
    ],
    [
      "lets only the newest of three templates grow",
      bounds(4, 2, 0),
      size("new", 0),
      [size("oldest", 3), size("older", 1)],
      { new: 2 },
    ],
    [
      "shrinks a new set that is too large, and does not count what it loses as serving",
      bounds(3, 1, 0),
      size("new", 5),
      [size("old", 2)],
      { new: 3, old: 0 },
    ],
    ["empties everything for no replicas", bounds(0, 1, 0), size("new", 1, 0), [size("old", 3, 1)], { new: 0, old: 0 }],
  ])("%s", (_, given, newSet, oldSets, expected) => {
    expect(planOf(given, newSet, oldSets)).toEqual(expected);
  });

  const anySet = (name: string) =>
    fc
      .record({ spec: fc.nat(12), extra: fc.integer({ min: -4, max: 4 }), broken: fc.nat(12) })
      .map(({ spec, extra, broken }): SetSize => {
        const existing = Math.max(0, spec + extra);
        return { name, spec, existing, available: Math.max(0, Math.min(spec, existing) - broken) };
      });
  const anyState = fc.record({
    fenceposts: fc.record({ replicas: fc.nat(12), maxSurge: fc.nat(6), maxUnavailable: fc.nat(6) }),
    newSet: anySet("new"),
    oldSets: fc.tuple(anySet("old-1"), anySet("old-2"), anySet("old-3")),
  });

  it("keeps the bounds in every state", () => {
    fc.assert(
      fc.property(anyState, ({ fenceposts, newSet, oldSets }) => {
        const given = { replicas: fenceposts.replicas, ...resolveFenceposts(fenceposts) };
        const plan = planRollingUpdate(given, newSet, oldSets);
        const after = (set: SetSize): number => plan.get(set.name) ?? set.spec;
        /** A set deletes machines that do not serve first. */
        const serving = (set: SetSize): number => Math.min(set.available, after(set));
        const all = [newSet, ...oldSets];

        for (const set of all) expect(after(set)).toBeGreaterThanOrEqual(0);
        for (const set of oldSets) expect(after(set)).toBeLessThanOrEqual(set.spec);
        expect(after(newSet)).toBeLessThanOrEqual(given.replicas);

        const desired = sum(all.map(({ spec }) => spec));
        const using = sum(all.map(({ spec, existing }) => Math.max(spec, existing)));
        const grown = Math.max(0, after(newSet) - newSet.spec);
        expect(sum(all.map(after))).toBeLessThanOrEqual(Math.max(desired, given.replicas + given.maxSurge));
        expect(grown).toBeLessThanOrEqual(Math.max(0, given.replicas + given.maxSurge - using));

        const minAvailable = given.replicas - given.maxUnavailable;
        // A new set that is larger than the replicas has to shrink; that is no matter of the rollout.
        const before = Math.min(newSet.available, given.replicas) + sum(oldSets.map(({ available }) => available));
        const left = serving(newSet) + sum(oldSets.map(serving));
        expect(left).toBeGreaterThanOrEqual(Math.min(before, minAvailable));
        for (const [name, replicas] of plan) expect(all.find((set) => set.name === name)?.spec).not.toBe(replicas);
      }),
      { numRuns: 2_000 },
    );
  });

  it("always has a next step once everything is there and serves", () => {
    fc.assert(
      fc.property(anyState, ({ fenceposts, newSet, oldSets }) => {
        const given = { replicas: fenceposts.replicas, ...resolveFenceposts(fenceposts) };
        const settled = (set: SetSize): SetSize => ({ ...set, existing: set.spec, available: set.spec });
        const plan = planRollingUpdate(given, settled(newSet), oldSets.map(settled));
        const isDone = newSet.spec === given.replicas && oldSets.every(({ spec }) => spec === 0);
        expect(plan.size === 0).toBe(isDone);
      }),
    );
  });
});

describe("limits of a rollout", () => {
  it.each<[string, Parameters<typeof planRollingUpdate>, Record<string, number>]>([
    [
      "do nothing while no step may be taken",
      [bounds(10, 2, 2), size("new", 1), [size("old", 10)], { mayStart: false }],
      {},
    ],
    [
      "let a new set that is too large shrink at any time",
      [bounds(3, 1, 0), size("new", 5), [size("old", 1)], { mayStart: false }],
      { new: 3 },
    ],
    [
      "hold the new set at its share",
      [bounds(10, 5, 0), size("new", 0), [size("old", 10)], { maxNew: 2, mayStart: true }],
      { new: 2 },
    ],
    [
      "leave the old sets what the new one may not replace yet",
      [bounds(10, 5, 4), size("new", 2), [size("old", 10)], { maxNew: 2, mayStart: true }],
      { old: 8 },
    ],
    [
      "take nothing back that the new set has already",
      [bounds(10, 0, 1), size("new", 5), [size("old", 5)], { maxNew: 2, mayStart: true }],
      {},
    ],
    [
      "leave the old sets alone where the new set may have nothing",
      [bounds(3, 0, 1), size("new", 0), [size("old", 3, 1)], { maxNew: 0, mayStart: true }],
      {},
    ],
    [
      "delete an old machine for a share where there is no surge",
      [bounds(10, 0, 1), size("new", 0), [size("old", 10)], { maxNew: 2, mayStart: true }],
      { old: 9 },
    ],
  ])("%s", (_, given, expected) => {
    expect(planOf(...given)).toEqual(expected);
  });
});
