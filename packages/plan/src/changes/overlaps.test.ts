import type { ApiObject } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { apply, manifests, meta, namespace, now, pool, set, template, world } from "../testing/planned-world.ts";
import { stateOfManifests } from "../state/cluster-state.ts";
import { type Plan, planChanges } from "../plan-changes.ts";

type Labels = Readonly<Record<string, string>>;

const plan = (...added: readonly ApiObject[]): Promise<Plan> =>
  planChanges(
    stateOfManifests(manifests(world), undefined, true),
    added.map((object) => apply(object)),
    { now },
  );

/** A deployment that selects labels, and gives others to what it makes. */
const deployment = (name: string, selected: Labels, given: Labels = selected) => ({
  ...pool({ selector: { matchLabels: selected }, template: { ...template(), metadata: { labels: given } } }),
  metadata: { name, namespace },
});

/** A set without controller. */
const bareSet = (name: string, labels: Labels, selected: Labels = labels) => ({
  ...set,
  metadata: meta(name, { labels }),
  spec: {
    ...set.spec,
    selector: { matchLabels: selected },
    template: { ...template(), metadata: { labels: selected } },
  },
});

const overlap = (one: string, other: string): unknown =>
  expect.stringMatching(
    `^The selectors of ${one} and ${other} overlap: each may adopt machines that the other releases`,
  );
const both = overlap('MachineDeployment "new"', 'MachineDeployment "pool"');

describe("the plan of objects whose selectors overlap", () => {
  it.each([
    ["both select the same", { name: "pool" }, { name: "pool" }],
    ["the new one selects what the other makes", { name: "pool" }, { name: "pool", zone: "a" }],
    ["the other selects what the new one makes", { zone: "a" }, { name: "pool", zone: "a" }],
  ])("names both deployments where %s", async (_, selected, given) => {
    expect((await plan(deployment("new", selected, given))).notes).toEqual([both]);
  });

  it("reports nothing without overlap, or while one of them is being deleted", async () => {
    expect((await plan(deployment("new", { name: "new" }))).notes).toEqual([]);
    const state = stateOfManifests(manifests([...world, deployment("new", { name: "pool" })]), undefined, true);
    expect((await planChanges(state, [{ kind: "scale", name: "pool", replicas: 3 }], { now })).notes).toEqual([both]);
    const gone = await planChanges(state, [{ kind: "delete", of: "MachineDeployment", name: "pool" }], { now });
    expect(gone.notes).toEqual([]);
  });

  it("reports an overlap of two objects of one change once", async () => {
    const { notes } = await plan(deployment("new", { name: "x" }), deployment("newer", { name: "x" }));
    expect(notes).toEqual([overlap('MachineDeployment "new"', 'MachineDeployment "newer"')]);
  });

  it("shows a set that a deployment adopts as a part of its rollout", async () => {
    const { changes, notes } = await plan(bareSet("lone", { name: "pool" }, { name: "lone" }));
    expect(changes).toMatchObject([{ kind: "MachineDeployment", name: "pool" }]);
    expect(notes).toEqual([
      'MachineDeployment "pool" adopts MachineSet "lone", because its selector matches and the set has no controller: the set becomes part of its rollout',
    ]);
  });

  it("names sets without controller, and none that a deployment controls", async () => {
    expect((await plan(bareSet("lone", {}, { name: "pool" }))).notes).toEqual([
      overlap('MachineDeployment "pool"', 'MachineSet "lone"'),
    ]);
    expect((await plan(bareSet("one", { name: "x" }), bareSet("two", { name: "x" }))).notes).toEqual([
      overlap('MachineSet "one"', 'MachineSet "two"'),
    ]);
  });

  it("names five others and the number of the rest", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `other-${index}`);
    const others = names.map((name) => deployment(name, { name: "x" }));
    const state = stateOfManifests(manifests([...world, ...others]), undefined, true);
    const { notes } = await planChanges(state, [apply(deployment("new", { name: "x" }))], { now });
    expect(notes).toHaveLength(6);
    expect(notes.at(-1)).toBe('The selector of MachineDeployment "new" overlaps with those of 3 more');
  });
});
