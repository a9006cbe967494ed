import { describe, expect, test } from "vitest";
import { decideSuspicion, isDoubtful, type Suspicion } from "./decide-suspicion.ts";

const known: Suspicion = { providerId: "vm-1", sinceMs: 1_000, lastReport: 50 };

describe("a list that lacks the VM of a machine", () => {
  test.each<[string, Suspicion | undefined, Partial<Suspicion>, boolean, boolean]>([
    ["is the first one", undefined, {}, false, false],
    ["comes too early after the first one", known, { sinceMs: 6_999 }, true, false],
    ["comes late enough after the first one", known, { sinceMs: 7_000 }, true, true],
    ["comes after the kubelet reported again", known, { sinceMs: 7_000, lastReport: 51 }, false, false],
    ["comes after the node was deleted", known, { sinceMs: 7_000, lastReport: 0 }, true, true],
    ["is about another VM", known, { sinceMs: 7_000, providerId: "vm-2" }, false, false],
  ])("%s", (_, before, change, isKept, isDue) => {
    const current = { ...known, ...change };
    expect(decideSuspicion(before, current, 6_000)).toEqual({ suspicion: isKept ? known : current, isDue });
  });

  test.each([
    [1, 1, false],
    [2, 2, false],
    [3, 3, true],
    [3, 5, true],
    [3, 6, false],
    [50, 100, false],
    [51, 100, true],
  ])("of %i machines of %i with a VM proves nothing: %s", (missing, machines, expected) => {
    expect(isDoubtful(missing, machines)).toBe(expected);
  });
});
