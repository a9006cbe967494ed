import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DeletionScope } from "../model/deletion-budget.ts";
import { judgeShare, lossLimit, MIN_LOSS } from "./judge-share.ts";

const scope = (inService: number, loss = 0): DeletionScope => ({ kind: "Namespace", name: "n", inService, loss });
const isAllowed = (count: number, share: number, ...scopes: readonly DeletionScope[]): boolean =>
  judgeShare(
    scopes.map((each) => ({ scope: each, count })),
    share,
  ).isAllowed;

describe("judgeShare", () => {
  it.each<[string, boolean, boolean]>([
    ["allows half of a fleet", isAllowed(100, 0.5, scope(200)), true],
    ["holds one more than half", isAllowed(101, 0.5, scope(200)), false],
    ["holds a fleet of 200 that is scaled to 0", isAllowed(200, 0.5, scope(200)), false],
    ["allows ten machines, whatever their share", isAllowed(10, 0.01, scope(10)), true],
    ["holds eleven of eleven", isAllowed(11, 0.5, scope(11)), false],
    ["counts what was lost before", isAllowed(51, 0.5, scope(150, 50)), false],
    ["takes the share of the fleet before its losses", isAllowed(50, 0.5, scope(150, 50)), true],
    ["allows everything where the share is 0", isAllowed(1_000, 0, scope(1_000)), true],
    ["allows everything where the share is 1", isAllowed(1_000, 1, scope(1_000)), true],
    ["holds what one of two scopes does not allow", isAllowed(30, 0.5, scope(30), scope(300)), false],
    ["holds what the wider scope does not allow", isAllowed(20, 0.5, scope(100), scope(100, 40)), true],
    ["holds what the wider scope has lost", isAllowed(40, 0.5, scope(100), scope(100, 40)), false],
    ["allows a request without machines in service after too many losses", isAllowed(0, 0.5, scope(0, 100)), true],
    ["takes the share of a pool itself", isAllowed(20, 0.5, { ...scope(20), share: 1 }), true],
    ["holds over the share of a pool itself", isAllowed(15, 0.9, { ...scope(20), share: 0.6 }), false],
    ["holds over the share of a pool where there is no other", isAllowed(15, 0, { ...scope(20), share: 0.6 }), false],
  ])("%s", (_, actual, expected) => {
    expect(actual).toBe(expected);
  });

  it("names the scope and its limit", () => {
    const verdict = judgeShare([{ scope: scope(60), count: 60 }], 0.5);
    expect(verdict).toEqual({ isAllowed: false, scope: scope(60), limit: 30 });
  });

  const machines = fc.nat({ max: 5_000 });
  const share = fc.integer({ min: 1, max: 100 }).map((percent) => percent / 100);

  it("never lets requests, one after another, take more than the share", () => {
    fc.assert(
      fc.property(
        machines,
        share,
        fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 40 }),
        (all, part, asked) => {
          let inService = all;
          let loss = 0;
          for (const wanted of asked) {
            const count = Math.min(wanted, inService);
            if (!isAllowed(count, part, scope(inService, loss))) continue;
            inService -= count;
            loss += count;
          }
          expect(loss).toBeLessThanOrEqual(Math.max(MIN_LOSS, Math.floor(part * all)));
        },
      ),
    );
  });

  it("gives the same verdict on the rest of a request whose first machines are deleted", () => {
    fc.assert(
      fc.property(machines, machines, share, fc.nat({ max: 100 }), (inService, count, part, percent) => {
        const request = Math.min(count, inService);
        const done = Math.floor((request * percent) / 100);
        if (done === request) return;
        const before = isAllowed(request, part, scope(inService));
        expect(isAllowed(request - done, part, scope(inService - done, done))).toBe(before);
      }),
    );
  });

  it("has a limit that no machine in service lowers", () => {
    fc.assert(
      fc.property(machines, machines, share, (inService, loss, part) => {
        expect(lossLimit({ inService: inService + 1, loss }, part)).toBeGreaterThanOrEqual(
          lossLimit({ inService, loss }, part),
        );
      }),
    );
  });
});
