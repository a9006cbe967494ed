import { ConfigError } from "@millwright/base";
import { annotationKeys, machineApiVersion } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import {
  apply,
  big,
  lastEvent,
  lastEvents,
  machine,
  manifests,
  meta,
  namespace,
  now,
  pool,
  set,
  small,
  template,
  world,
} from "./testing/planned-world.ts";
import type { PlannedChange } from "./changes/apply-changes.ts";
import { stateOfManifests } from "./state/cluster-state.ts";
import { type Plan, planChanges } from "./plan-changes.ts";

const plan = (changes: readonly PlannedChange[], objects = world): Promise<Plan> =>
  planChanges(stateOfManifests(manifests(objects), undefined, true), changes, { now });
const outcomes = ({ changes }: Plan): readonly string[] =>
  changes.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`);

describe("planChanges", () => {
  it("shows what another class replaces, and which budget would hold up which drain", async () => {
    const result = await plan([
      apply({ ...pool({ template: template("big") }) }),
      apply({ ...small, metadata: { name: "big" } }),
    ]);
    expect(outcomes(result)).toEqual(["MachineDeployment pool completes"]);
    expect(result).toMatchObject({ namespace, hasEffect: true, notes: [], deletedMachines: [] });
    expect(result.changes[0]?.durations).toMatchObject({ joinMs: 120_000, finishedJoins: 2 });
    expect(result.drains.map(({ node: name, outcome }) => `${name} ${outcome}`).toSorted()).toEqual([
      "node-a blocked",
      "node-b completes",
    ]);
    expect(result.drains.flatMap(({ because }) => because).join()).toContain(
      "PodDisruptionBudget shop/web can never be met",
    );
  });

  it("mentions keys that the driver of the class of a change ignores, and of no other class", async () => {
    const typo = (of: typeof small, keys: string) => ({
      ...of,
      metadata: { ...of.metadata, annotations: { [annotationKeys.unknownKeys]: keys } },
    });
    const objects = [
      pool(),
      typo(small, "machineTyp"),
      typo(big, "spotPrce"),
      ...world.filter((each) => each !== small).slice(1),
    ];
    const { notes } = await plan([{ kind: "scale", name: "pool", replicas: 3 }], objects);
    expect(notes).toEqual(['MachineClass "small": its driver ignores keys that it does not know: machineTyp']);
  });

  it("reports that nothing would happen", async () => {
    expect(await plan([apply(pool())])).toMatchObject({ hasEffect: false, drains: [] });
    expect(await plan([{ kind: "scale", name: "pool", replicas: 2 }])).toMatchObject({ hasEffect: false });
  });

  it("removes fields that only the last manifest had", async () => {
    const { metadata, ...rest } = pool({ paused: true, template: template("small", { drainTimeout: "1h" }) });
    const text = JSON.stringify({ ...rest, metadata: { name: "pool" } });
    const live = {
      ...rest,
      metadata: { ...metadata, annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } },
    };
    const bare = { ...pool({ template: template("big") }), metadata: { name: "pool" } };
    const result = await plan([apply(bare)], [live, big, ...world.slice(1)]);
    expect(result.changes[0]?.waitsFor).toEqual([]);
    // Without the annotation the author of the pause is unknown: it stays.
    const { annotations: _, ...unnoted } = live.metadata;
    const other = await plan([apply(bare)], [{ ...live, metadata: unnoted }, big, ...world.slice(1)]);
    expect(other.changes[0]?.waitsFor).toEqual(["Rollout is paused"]);
  });

  it("scales deployments, and sets as parts of their deployment", async () => {
    const down = await plan([{ kind: "scale", of: "MachineDeployment", name: "pool", replicas: 1 }]);
    expect(down.changes[0]?.steps[0]?.machinesDeleted).toHaveLength(1);
    expect(down.drains).toHaveLength(1);
    // The deployment brings its set back to its own size: no machine comes or goes.
    const { changes } = await plan([{ kind: "scale", of: "MachineSet", name: "pool-1", replicas: 5 }]);
    expect(changes).toMatchObject([
      { name: "pool", steps: [{ machinesCreated: [], messages: ["Scaled down machine set pool-1 to 2"] }] },
    ]);
  });

  it("deletes deployments, sets and machines", async () => {
    const all = await plan([{ kind: "delete", of: "MachineDeployment", name: "pool" }]);
    expect(all.drains.map(({ machine: name }) => name).toSorted()).toEqual(["a", "b"]);
    expect(outcomes(await plan([{ kind: "delete", of: "MachineSet", name: "pool-1" }]))).toEqual([
      "MachineDeployment pool completes",
    ]);
    const one = await plan([{ kind: "delete", of: "Machine", name: "a" }]);
    expect(one).toMatchObject({
      hasEffect: true,
      deletedMachines: [{ name: "a", node: "node-a" }],
      drains: [{ node: "node-a", outcome: "blocked" }],
    });
    expect(one.changes[0]?.steps[0]?.machinesCreated).toEqual([{ set: "pool-1", count: 1 }]);
  });

  it("notes that a machine without MachineSet is not replaced", async () => {
    const { ownerReferences: _, ...free } = { ...machine("x").metadata, labels: {} } as Record<string, unknown>;
    const alone = { ...machine("x"), metadata: { ...free, name: "x" } };
    const result = await plan([{ kind: "delete", of: "Machine", name: "x" }], [alone]);
    expect(result).toMatchObject({ hasEffect: true, changes: [], deletedMachines: [{ name: "x" }] });
    expect(result.notes).toEqual(['Machine "x" belongs to no MachineSet: it is not replaced']);
  });

  it("waits for a missing class, and only notes it if no machine is created", async () => {
    const gone = 'MachineClass "gone" of MachineDeployment "pool" does not exist: none of its machines can be created';
    const rolled = await plan([apply(pool({ template: template("gone") }))]);
    // No sound machine makes place for one that cannot be created.
    const held = "Rollout waits for MachineClass gone: it does not exist";
    expect(rolled).toMatchObject({ changes: [{ outcome: "waits", waitsFor: [held] }], drains: [], notes: [gone] });
    const paused = await plan([apply(pool({ template: template("gone"), paused: true }))]);
    expect(paused).toMatchObject({ changes: [{ waitsFor: [held, "Rollout is paused"] }], notes: [gone] });
  });

  it("notes the rollout that is under way", async () => {
    const record = { set: "pool-b", revision: 2, proven: "pool-a", since: "2026-01-01T00:00:00Z" };
    const annotations = { [annotationKeys.rollout]: JSON.stringify(record) };
    const { metadata, ...rest } = pool();
    const { notes } = await plan([apply({ ...rest, metadata: { ...metadata, annotations } })]);
    expect(notes).toEqual([
      'MachineDeployment "pool" rolls out revision 2 since 2026-01-01T00:00:00Z; its proven template is that of MachineSet "pool-a"',
    ]);
  });

  it("notes a changed class and skipped objects", async () => {
    const result = await plan([
      apply(pool()),
      apply({ ...small, providerSpec: { size: 2 } } as ApiObject),
      apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
    ]);
    expect(result.notes).toEqual([
      expect.stringContaining('MachineClass "small" changes: existing machines are not replaced'),
      'new.yaml: Secret "s" is skipped',
    ]);
  });

  it("plans a set of its own", async () => {
    const lone = {
      apiVersion: machineApiVersion,
      kind: "MachineSet",
      metadata: { name: "lone" },
      spec: {
        ...set.spec,
        selector: { matchLabels: { a: "b" } },
        template: { ...template(), metadata: { labels: { a: "b" } } },
      },
    };
    expect(outcomes(await plan([apply(lone)]))).toEqual(["MachineSet lone completes"]);
  });

  it.each<[string, PlannedChange, string | RegExp]>([
    [
      "a field that cannot be read",
      apply(pool({ replicas: "x" })),
      'new.yaml: MachineDeployment "pool": spec.replicas: must be',
    ],
    [
      "an unknown field",
      apply(pool({ strategy: { rollingUpdate: { maxSruge: 1 } } })),
      'new.yaml: MachineDeployment "pool": spec.strategy.rollingUpdate.maxSruge: is not a field of MachineDeployment, and the API server rejects it: did you mean spec.strategy.rollingUpdate.maxSurge?',
    ],
    [
      "a name that the API server rejects",
      apply({ ...pool(), metadata: { name: "Pool_1" } }),
      'new.yaml: MachineDeployment "Pool_1": metadata.name: is "Pool_1": a lowercase RFC 1123 subdomain must consist of',
    ],
    [
      "all that is wrong at once",
      apply({ ...small, metadata: { name: "b", lables: {} }, provider: 1 } as ApiObject),
      /metadata\.lables: is not a field .*; provider: must be a text/,
    ],
    [
      "another namespace",
      apply({ ...pool(), metadata: { name: "pool", namespace: "other" } }),
      'metadata.namespace is "other", the plan is for "machines"; add --namespace other',
    ],
    ["no name", apply({ ...pool(), metadata: {} }), "metadata.name is missing"],
    ["a kind that is not planned", apply(machine("a")), 'kind is "Machine"; it must be MachineDeployment'],
    [
      "a size of an object that does not exist",
      { kind: "scale", name: "x", replicas: 1 },
      'there is no MachineDeployment or MachineSet "x" in namespace "machines": there are pool, pool-1',
    ],
    ["a size of no set", { kind: "scale", of: "MachineSet", name: "pool", replicas: 1 }, "there are pool-1"],
    [
      "a size of no deployment",
      { kind: "scale", of: "MachineDeployment", name: "pool-1", replicas: 1 },
      "there are pool",
    ],
    [
      "a deletion of an object that does not exist",
      { kind: "delete", of: "Machine", name: "x" },
      'there is no Machine "x"',
    ],
    ["a deletion of no deployment", { kind: "delete", of: "MachineDeployment", name: "x" }, "there are pool"],
    ["a deletion of no set", { kind: "delete", of: "MachineSet", name: "x" }, "there are pool-1"],
  ])("rejects %s, and names the fix", async (_, change, message) => {
    const rejected = plan([change]);
    await expect(rejected).rejects.toThrow(ConfigError);
    await expect(rejected).rejects.toThrow(message);
  });

  it("estimates deletions from events in the files, unless a duration is given", async () => {
    const state = stateOfManifests(
      manifests([...world, ...lastEvents, lastEvent("other", "9h", { namespace: "other" })]),
      undefined,
      true,
    );
    const down: readonly PlannedChange[] = [{ kind: "scale", name: "pool", replicas: 1 }];
    const past = await planChanges(state, down, { now });
    expect(past.changes[0]).toMatchObject({
      durations: { deletionMs: 180_000, finishedDeletions: 3 },
      expectedMs: 180_000,
    });
    const given = await planChanges(state, down, { now, durations: { deletionMs: 60_000 } });
    expect(given.changes[0]).toMatchObject({
      durations: { deletionMs: 60_000, finishedDeletions: 0 },
      expectedMs: 60_000,
    });
  });

  it("notes unknown annotations", async () => {
    const misspelt = { annotations: { "machine.millwright.dev/canary-setps": "1/pause" } };
    const { notes } = await plan([apply(pool({}, misspelt))]);
    expect(notes).toEqual([expect.stringContaining("canary-setps, which is unknown")]);
  });

  it("accepts hand-written manifests as a state, without the fields that an API server adds", async () => {
    const { uid: _, creationTimestamp: __, namespace: ___, ...metadata } = meta("pool");
    const written = { ...pool(), metadata };
    const { changes, namespace: planned } = await plan([{ kind: "scale", name: "pool", replicas: 5 }], [written]);
    expect(planned).toBe("default");
    expect(changes[0]).toMatchObject({ steps: [{ machinesCreated: [{ count: 5 }] }] });
  });

  it("skips objects that cannot be read, with a note", async () => {
    const { notes } = await plan(
      [apply(pool())],
      [...world, { ...machine("c"), spec: { providerID: 5 } } as ApiObject],
    );
    expect(notes).toEqual([expect.stringContaining('Machine "c" cannot be read and is left out: spec.providerID')]);
  });
});
