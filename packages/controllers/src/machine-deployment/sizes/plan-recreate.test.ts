import { describe, expect, it } from "vitest";
import { planRecreate } from "./plan-recreate.ts";
import type { SetSize } from "../state/set-size.ts";

const size = (name: string, spec: number, existing = spec): SetSize => ({ name, spec, existing, available: spec });

describe("planRecreate", () => {
  it.each<[string, SetSize | undefined, readonly SetSize[], Record<string, number> | string]>([
    ["empties all old sets first", undefined, [size("a", 5), size("b", 0), size("c", 1)], { a: 0, c: 0 }],
    ["waits while an old machine exists", undefined, [size("a", 0, 1)], {}],
    ["creates the new set when all are gone", undefined, [size("a", 0)], "create the new set"],
    ["creates the first set", undefined, [], "create the new set"],
    ["does not fill a set that exists before all old machines are gone", size("new", 0), [size("a", 0, 1)], {}],
    ["fills a set that exists", size("new", 0), [size("a", 0)], { new: 5 }],
    ["shrinks a set that is too large", size("new", 7), [], { new: 5 }],
    ["has nothing to do when it is done", size("new", 5), [size("a", 0)], {}],
  ])("%s", (_, newSet, oldSets, expected) => {
    const plan = planRecreate(5, newSet, oldSets);
    expect(typeof plan === "string" ? plan : Object.fromEntries(plan)).toEqual(expected);
  });
});
