import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roomOfPace } from "./pace.ts";

describe("roomOfPace", () => {
  it.each([
    ["no pace", undefined, { inDeletion: 9, inService: 0, desired: 9 }, Infinity],
    ["the first ones", 3, { inDeletion: 0, inService: 12, desired: 12 }, 3],
    ["surplus machines", 3, { inDeletion: 0, inService: 15, desired: 12 }, 3],
    ["one that is deleted", 3, { inDeletion: 1, inService: 11, desired: 12 }, 2],
    ["one of three that is not replaced yet", 3, { inDeletion: 0, inService: 11, desired: 12 }, 2],
    ["more that are missing for other reasons", 3, { inDeletion: 0, inService: 2, desired: 12 }, 0],
    ["a scale-down, whose machines are not replaced", 3, { inDeletion: 3, inService: 11, desired: 0 }, 0],
  ])("leaves room for %s", (_, atATime, view, room) => {
    expect(roomOfPace(atATime, view)).toBe(room);
  });

  it("never lets more machines be missing, or in deletion, than the pace allows, and comes to an end", () => {
    const steps = fc.array(fc.constantFrom("begin", "end", "replace"), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 5 }), steps, (size, atATime, random) => {
        let [old, inDeletion, young, pending] = [size, 0, 0, 0];
        const step = (kind: string): void => {
          const room = roomOfPace(atATime, { inDeletion, inService: old + young, desired: size });
          if (kind === "begin" && old > 0 && room > 0) [old, inDeletion] = [old - 1, inDeletion + 1];
          if (kind === "end" && inDeletion > 0) [inDeletion, pending] = [inDeletion - 1, pending + 1];
          if (kind === "replace" && pending > 0) [pending, young] = [pending - 1, young + 1];
          expect(inDeletion + pending).toBeLessThanOrEqual(atATime);
          expect(old + young).toBeGreaterThanOrEqual(size - atATime);
        };
        for (const kind of random) step(kind);
        for (let round = 0; round < size; round++) for (const kind of ["begin", "end", "replace"]) step(kind);
        for (let round = 0; round < size; round++) for (const kind of ["end", "replace", "begin"]) step(kind);
        expect(old).toBe(0);
      }),
    );
  });
});
