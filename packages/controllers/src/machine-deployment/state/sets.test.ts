import { describe, expect, it } from "vitest";
import { aMachineDeployment, aMachineSet, beingDeleted, createdAt, named } from "../../testing/builders.ts";
import { findNewSet, oldestFirst } from "./sets.ts";

const young = createdAt("2026-01-02T00:00:00Z");
const nameOf = (sets: Parameters<typeof oldestFirst>[0]) => findNewSet(aMachineDeployment(), sets)?.metadata.name;

describe("findNewSet", () => {
  it("is the oldest of those with the current template, whatever their hash", () => {
    const hashed = { spec: { template: { metadata: { labels: { "machine-template-hash": "7" } } } } };
    const other = aMachineSet(named("other"), createdAt("2025-01-01T00:00:00Z"), {
      spec: { template: { spec: { class: { name: "x" } } } },
    });
    expect(nameOf([aMachineSet(named("a"), young), other, aMachineSet(named("b"), hashed)])).toBe("b");
  });

  it("is not a terminating one, and undefined when there is none", () => {
    expect(nameOf([aMachineSet(beingDeleted()), aMachineSet(named("next"), young)])).toBe("next");
    expect(nameOf([aMachineSet(beingDeleted())])).toBeUndefined();
    expect(nameOf([])).toBeUndefined();
  });
});

describe("oldestFirst", () => {
  it("orders by age and then by name, those without age first", () => {
    const sets = [
      aMachineSet(named("c"), young),
      aMachineSet(named("b")),
      aMachineSet(named("a")),
      aMachineSet(named("z"), { metadata: { creationTimestamp: null } }),
    ];
    expect(oldestFirst(sets).map(({ metadata }) => metadata.name)).toEqual(["z", "a", "b", "c"]);
  });
});
