import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RolloutBounds } from "../state/rollout-bounds.ts";
import { planScaling, type ScalableSet } from "./plan-scaling.ts";
import { sum } from "../state/set-size.ts";

const names = ["oldest", "older", "new"];
/** Sets of these sizes, the last one of the current template, that were scaled last when `maxReplicas` was the bound. */
const sets = (
  sizes: readonly number[],
  maxReplicas: number | undefined,
  available: readonly number[] = sizes,
): ScalableSet[] =>
  sizes.map((spec, index) => ({
    name: names[index + names.length - sizes.length] ?? "",
    spec,
    existing: spec,
    available: available[index] ?? spec,
    maxReplicas,
  }));
/** With so many machines that are not terminating. */
const withPresent = (all: readonly ScalableSet[], present: readonly number[]): readonly ScalableSet[] =>
  all.map((set, index) => ({ ...set, present: present[index] ?? 0 }));
const bounds = (replicas: number, maxSurge = 0): RolloutBounds => ({ replicas, maxSurge, maxUnavailable: 0 });

/** The sizes that a plan leaves; the last set is the one of the current template, or there is none of it. */
const sizesAfter = (given: RolloutBounds, all: readonly ScalableSet[], isCurrent = true): readonly number[] => {
  const plan = planScaling(given, isCurrent ? all.at(-1) : undefined, all);
  return all.map(({ name, spec }) => plan.get(name) ?? spec);
};

describe("planScaling", () => {
  it.each<[string, () => readonly number[], readonly number[]]>([
    ["lets only the newest set grow", () => sizesAfter(bounds(10, 2), sets([1, 3, 5], 9)), [1, 3, 8]],
    ["shares a reduction in proportion", () => sizesAfter(bounds(5, 2), sets([1, 3, 6], 10)), [1, 2, 4]],
    ["shares a smaller reduction in proportion", () => sizesAfter(bounds(3, 2), sets([1, 2, 4], 7)), [1, 1, 3]],
    [
      "keeps the place of a machine that its set has not deleted yet",
      () => sizesAfter(bounds(3, 1), withPresent(sets([1, 1], 3), [2, 1])),
      [1, 2],
    ],
    [
      "keeps the places of machines of a set that is to be empty",
      () => sizesAfter(bounds(5, 1), withPresent(sets([0, 1, 2], 4), [2, 1, 2])),
      [0, 1, 3],
    ],
    [
      "does not shrink a set for machines that are about to be deleted",
      () => sizesAfter(bounds(4), withPresent(sets([1, 3], 4), [3, 3])),
      [1, 3],
    ],
    ["leaves sizes that fit the bound", () => sizesAfter(bounds(7, 2), sets([1, 3, 5], 9)), [1, 3, 5]],
    ["empties all sets for no replicas, surge or not", () => sizesAfter(bounds(0, 2), sets([1, 3, 5], 9)), [0, 0, 0]],
    ["scales the only active set, be it old", () => sizesAfter(bounds(6), sets([0, 3, 0], 3)), [0, 6, 0]],
    ["leaves the only active set that has its size", () => sizesAfter(bounds(3), sets([0, 3, 0], 9)), [0, 3, 0]],
    [
      "scales the set of the current template when none is active",
      () => sizesAfter(bounds(4), sets([0, 0, 0], 9)),
      [0, 0, 4],
    ],
    [
      "scales the newest set when none is active and none is current",
      () => sizesAfter(bounds(4), sets([0, 0, 0], 9), false),
      [0, 0, 4],
    ],
    ["empties old sets when the new one serves all", () => sizesAfter(bounds(5, 2), sets([2, 1, 5], 9)), [0, 0, 5]],
    [
      "keeps old sets while the new one does not serve all",
      () => sizesAfter(bounds(5, 3), sets([2, 1, 5], 9, [2, 1, 4])),
      [2, 1, 5],
    ],
    [
      "lets the newest active set grow when there is none of the current template",
      () => sizesAfter(bounds(6, 1), sets([2, 2], 5), false),
      [2, 5],
    ],
    [
      "scales up only the current set, although it is still empty (gardener/machine-controller-manager#754)",
      () => sizesAfter(bounds(6, 1), sets([2, 2, 0], 5)),
      [2, 2, 3],
    ],
    [
      "shares by what there is now where no size was noted",
      () => sizesAfter(bounds(5), sets([4, 6], undefined), false),
      [2, 3],
    ],
    [
      "takes what rounding leaves from the largest, the oldest of equal ones",
      () => sizesAfter(bounds(5), sets([3, 3, 3], 9)),
      [1, 2, 2],
    ],
    [
      "removes no more than the surplus, whatever the rounding",
      () => sizesAfter(bounds(4), sets([3, 3, 3], 9, [3, 3, 2])),
      [1, 1, 2],
    ],
  ])("%s", (_, sizes, expected) => {
    expect(sizes()).toEqual(expected);
  });

  it("plans nothing without sets", () => {
    expect(planScaling(bounds(3), undefined, []).size).toBe(0);
  });

  const anyCase = fc.record({
    sizes: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
    noted: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    replicas: fc.nat(15),
    maxSurge: fc.nat(4),
    isCurrent: fc.boolean(),
    isServing: fc.boolean(),
  });

  it("conserves the bound and settles", () => {
    fc.assert(
      fc.property(anyCase, ({ sizes, noted, replicas, maxSurge, isCurrent, isServing }) => {
        const given = bounds(replicas, maxSurge);
        const step = (from: readonly number[], maxReplicas: number | undefined): readonly number[] =>
          sizesAfter(given, sets(from, maxReplicas, isServing ? from : [0, 0, 0]), isCurrent);
        const first = step(sizes, noted);
        const isSingle = sizes.filter((each) => each > 0).length < 2;
        const isSaturated = isServing && isCurrent && sizes.at(-1) === replicas;

        for (const each of first) expect(each).toBeGreaterThanOrEqual(0);
        expect(sum(first)).toBe(isSingle || isSaturated || replicas === 0 ? replicas : replicas + maxSurge);
        // No set grows while another one shrinks.
        const changes = new Set(first.map((each, index) => Math.sign(each - (sizes[index] ?? 0))));
        expect(changes.has(1) && changes.has(-1)).toBe(false);

        // At most one more step is due: the surge goes, or the old sets when the new one has become all that is wanted.
        const second = step(first, replicas + maxSurge);
        expect(step(second, replicas + maxSurge)).toEqual(second);
        expect([replicas, replicas + maxSurge]).toContain(sum(second));
      }),
      { numRuns: 2_000 },
    );
  });
});
