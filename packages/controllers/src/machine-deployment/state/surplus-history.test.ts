import type { MachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, beingDeleted, type Change, named } from "../../testing/builders.ts";
import { surplusHistory } from "./revision.ts";

const emptySet = (name: string, ...changes: readonly Change<MachineSet>[]) =>
  aMachineSet(named(name), { spec: { replicas: 0 }, status: { observedGeneration: 1 } }, ...changes);
const view = (set: MachineSet, machines = 0) => ({ set, machines: Array.from({ length: machines }, () => aMachine()) });

const namesOf = (limit: number | undefined, views: readonly ReturnType<typeof view>[]): readonly string[] =>
  surplusHistory(aMachineDeployment({ spec: { revisionHistoryLimit: limit ?? null } }), views).map(
    ({ set }) => set.metadata.name,
  );

describe("surplusHistory", () => {
  const three = ["a", "b", "c"].map((name) => view(emptySet(name)));

  it("is the oldest sets beyond the limit", () => {
    expect(namesOf(1, three)).toEqual(["a", "b"]);
    expect(namesOf(0, three)).toEqual(["a", "b", "c"]);
    expect(namesOf(3, three)).toEqual([]);
    expect(namesOf(9, three)).toEqual([]);
  });

  it("is nothing without a limit", () => {
    expect(namesOf(undefined, three)).toEqual([]);
  });

  it.each<[string, ReturnType<typeof view>]>([
    ["still has machines", view(emptySet("b"), 1)],
    ["is to have machines", view(emptySet("b", { spec: { replicas: 1 } }))],
    ["has not seen its last change yet", view(emptySet("b", { metadata: { generation: 2 } }))],
    ["never saw anything", view(emptySet("b", { status: null }))],
  ])("leaves a set that %s, and takes no younger one for it", (_, middle) => {
    expect(namesOf(1, [view(emptySet("a")), middle, view(emptySet("c"))])).toEqual(["a"]);
  });

  it("does not count sets that are going already", () => {
    const going = emptySet("a", beingDeleted());
    expect(namesOf(1, [view(going), view(emptySet("b")), view(emptySet("c"))])).toEqual(["b"]);
  });

  it("takes a set without numbers for an empty one that is up to date", () => {
    expect(namesOf(0, [view(emptySet("a", { metadata: { generation: null }, spec: { replicas: null } }))])).toEqual([
      "a",
    ]);
  });
});
