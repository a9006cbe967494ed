import { ConfigError, finalizers, labelKeys, machineApiVersion } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import {
  ApiError,
  type ApiObject,
  eventResource,
  nodeResource,
  podDisruptionBudgetResource,
  podResource,
} from "@millwright/kube";
import { createFakeApi, type FakeApi, serverError } from "@millwright/kube/testing";
import { machineClassResource, machineDeploymentResource, machineResource, machineSetResource } from "@millwright/core";
import { describe, expect, it } from "vitest";
import type { PlannedChange } from "./apply-changes.ts";
import { type ManifestObject, readClusterState, stateOfManifests } from "./cluster-state.ts";
import { type Plan, planChanges } from "./plan-changes.ts";

const namespace = "machines";
const now = new Date("2026-03-01T00:00:00Z");
const labels = { name: "pool" };
const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});
const template = (className = "small", spec: object = {}) => ({
  metadata: { labels },
  spec: { class: { kind: "MachineClass", name: className }, ...spec },
});
const meta = (name: string, extra: object = {}) => ({
  name,
  namespace,
  uid: `uid-${name}`,
  creationTimestamp: "2026-01-01T00:00:00Z",
  finalizers: [finalizers.machine],
  ...extra,
});
const pool = (change: object = {}, extra: object = {}) => ({
  apiVersion: machineApiVersion,
  kind: "MachineDeployment",
  metadata: meta("pool", extra),
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template(), ...change },
});
const set = {
  apiVersion: machineApiVersion,
  kind: "MachineSet",
  metadata: meta("pool-1", { labels, ...owner("MachineDeployment", "pool") }),
  spec: { replicas: 2, selector: { matchLabels: labels }, template: template() },
};
const machine = (name: string) => ({
  apiVersion: machineApiVersion,
  kind: "Machine",
  metadata: meta(name, { labels: { ...labels, [labelKeys.node]: `node-${name}` }, ...owner("MachineSet", "pool-1") }),
  spec: { class: { kind: "MachineClass", name: "small" } },
  status: { currentStatus: { phase: "Running" }, joinDuration: "2m0s" },
});
const small = {
  apiVersion: machineApiVersion,
  kind: "MachineClass",
  metadata: meta("small"),
  provider: "mock",
  providerSpec: { size: 1 },
};
const big = { ...small, metadata: meta("big") };
const node = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "shop",
    uid: "web",
    labels: { app: "web" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true }],
  },
  spec: { nodeName: "node-a" },
  status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
};
const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web", namespace: "shop", generation: 1 },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 0 },
  status: { observedGeneration: 1, expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 },
};
/** The last words about a machine that is gone. */
const lastEvent = (uid: string, took: string, extra: object = {}) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: `${uid}.1`, namespace, ...extra },
  involvedObject: { kind: "Machine", namespace, name: uid, uid },
  reason: "Deleting",
  message: `Drain successful. VM deletion was successful; the machine is gone after ${took}`,
});
const lastEvents = [lastEvent("x", "5m0s"), lastEvent("y", "1m0s"), lastEvent("z", "3m0s")];
const world: readonly ApiObject[] = [
  pool(),
  set,
  machine("a"),
  machine("b"),
  small,
  node("node-a"),
  node("node-b"),
  pod,
  budget,
];
const manifests = (objects: readonly ApiObject[]): readonly ManifestObject[] =>
  objects.map((object) => ({ source: "state.yaml", object }));
const apply = (object: ApiObject): PlannedChange => ({ kind: "apply", source: "new.yaml", object });
const plan = (changes: readonly PlannedChange[], objects = world): Promise<Plan> =>
  planChanges(stateOfManifests(manifests(objects), undefined, true), changes, { now });
const outcomes = ({ changes }: Plan): readonly string[] =>
  changes.map(({ kind, name, outcome }) => `${kind} ${name} ${outcome}`);

/** The same world behind an API server. */
function aCluster(): FakeApi {
  const api = createFakeApi({ clock: createVirtualClock() });
  const types = {
    MachineDeployment: machineDeploymentResource,
    MachineSet: machineSetResource,
    Machine: machineResource,
    MachineClass: machineClassResource,
    Node: nodeResource,
    Pod: podResource,
    PodDisruptionBudget: podDisruptionBudgetResource,
  };
  for (const object of world) {
    const [, type] = Object.entries(types).find(([kind]) => kind === object.kind) ?? [];
    if (type !== undefined) api.seed(type, object);
  }
  return api;
}

describe("planChanges", () => {
  it("shows what another class replaces, and which budget would hold up which drain", async () => {
    const result = await plan([
      apply({ ...pool({ template: template("big") }) }),
      apply({ ...small, metadata: { name: "big" } }),
    ]);
    expect(outcomes(result)).toEqual(["MachineDeployment pool completes"]);
    expect(result).toMatchObject({ namespace, happens: true, notes: [], deletedMachines: [] });
    expect(result.changes[0]?.durations).toMatchObject({ joinMs: 120_000, joinedMachines: 2 });
    expect(result.drains.map(({ node: name, outcome }) => `${name} ${outcome}`).toSorted()).toEqual([
      "node-a blocked",
      "node-b completes",
    ]);
    expect(result.drains.flatMap(({ because }) => because).join()).toContain("budget shop/web can never be met");
  });

  it("says that nothing would happen", async () => {
    expect(await plan([apply(pool())])).toMatchObject({ happens: false, drains: [] });
    expect(await plan([{ kind: "scale", name: "pool", replicas: 2 }])).toMatchObject({ happens: false });
  });

  it("takes away what the last manifest had and the new one has not", async () => {
    const { metadata, ...rest } = pool({ paused: true, template: template("small", { drainTimeout: "1h" }) });
    const text = JSON.stringify({ ...rest, metadata: { name: "pool" } });
    const live = {
      ...rest,
      metadata: { ...metadata, annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } },
    };
    const bare = { ...pool({ template: template("big") }), metadata: { name: "pool" } };
    const result = await plan([apply(bare)], [live, big, ...world.slice(1)]);
    expect(result.changes[0]?.waitsFor).toEqual([]);
    // Without the note nobody knows whose the pause is: it stays.
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
      { name: "pool", steps: [{ machinesCreated: [], says: ["Scaled down machine set pool-1 to 2"] }] },
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
      happens: true,
      deletedMachines: [{ name: "a", node: "node-a" }],
      drains: [{ node: "node-a", outcome: "blocked" }],
    });
    expect(one.changes[0]?.steps[0]?.machinesCreated).toEqual([{ set: "pool-1", count: 1 }]);
  });

  it("says that nothing takes the place of a machine that belongs to nobody", async () => {
    const { ownerReferences: _, ...free } = { ...machine("x").metadata, labels: {} } as Record<string, unknown>;
    const alone = { ...machine("x"), metadata: { ...free, name: "x" } };
    const result = await plan([{ kind: "delete", of: "Machine", name: "x" }], [alone]);
    expect(result).toMatchObject({ happens: true, changes: [], deletedMachines: [{ name: "x" }] });
    expect(result.notes).toEqual(['Machine "x" belongs to no MachineSet: nothing takes its place']);
  });

  it("waits for a class that is missing, and only notes it where nothing is made", async () => {
    const gone = 'MachineClass "gone" of MachineDeployment "pool" does not exist: none of its machines can be made';
    const rolled = await plan([apply(pool({ template: template("gone") }))]);
    expect(rolled).toMatchObject({ changes: [{ outcome: "waits", waitsFor: [gone] }], notes: [] });
    const paused = await plan([apply(pool({ template: template("gone"), paused: true }))]);
    expect(paused).toMatchObject({ changes: [{ waitsFor: ["Rollout is paused"] }], notes: [gone] });
  });

  it("notes a class that changes, and what it does not look at", async () => {
    const result = await plan([
      apply(pool()),
      apply({ ...small, providerSpec: { size: 2 } } as ApiObject),
      apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
    ]);
    expect(result.notes).toEqual([
      expect.stringContaining('MachineClass "small" changes: machines that exist are not replaced'),
      'new.yaml: Secret "s" is not looked at',
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

  it.each<[string, PlannedChange, string]>([
    [
      "a field that cannot be read",
      apply(pool({ replicas: "x" })),
      'new.yaml: MachineDeployment "pool": spec.replicas: must be',
    ],
    [
      "another namespace",
      apply({ ...pool(), metadata: { name: "pool", namespace: "other" } }),
      'metadata.namespace is "other", the plan is for "machines"; add --namespace other',
    ],
    ["no name", apply({ ...pool(), metadata: {} }), "metadata.name is missing"],
    ["a kind that is not planned", apply(machine("a")), 'kind is "Machine"; a plan is made for MachineDeployment'],
    [
      "a size of what is not there",
      { kind: "scale", name: "x", replicas: 1 },
      'there is no MachineDeployment or MachineSet "x" in namespace "machines": there are pool, pool-1',
    ],
    ["a size of no set", { kind: "scale", of: "MachineSet", name: "pool", replicas: 1 }, "there are pool-1"],
    [
      "a size of no deployment",
      { kind: "scale", of: "MachineDeployment", name: "pool-1", replicas: 1 },
      "there are pool",
    ],
    ["a deletion of what is not there", { kind: "delete", of: "Machine", name: "x" }, 'there is no Machine "x"'],
    ["a deletion of no deployment", { kind: "delete", of: "MachineDeployment", name: "x" }, "there are pool"],
    ["a deletion of no set", { kind: "delete", of: "MachineSet", name: "x" }, "there are pool-1"],
  ])("refuses %s and says what to do", async (_, change, message) => {
    const refused = plan([change]);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(message);
  });

  it("takes from events in the files how long deletions took, unless somebody knows better", async () => {
    const state = stateOfManifests(
      manifests([...world, ...lastEvents, lastEvent("other", "9h", { namespace: "other" })]),
      undefined,
      true,
    );
    const down: readonly PlannedChange[] = [{ kind: "scale", name: "pool", replicas: 1 }];
    const past = await planChanges(state, down, { now });
    expect(past.changes[0]).toMatchObject({ durations: { leaveMs: 180_000, leftMachines: 3 }, expectedMs: 180_000 });
    const given = await planChanges(state, down, { now, durations: { leaveMs: 60_000 } });
    expect(given.changes[0]).toMatchObject({ durations: { leaveMs: 60_000, leftMachines: 0 }, expectedMs: 60_000 });
  });

  it("notes that nothing happens while a definition is being deleted", async () => {
    const conditions = [{ type: "DefinitionsStand", status: "False", message: "Makes and deletes nothing: so it is" }];
    const [, ...others] = world;
    const held = { ...pool(), status: { conditions } };
    const { notes } = await plan([{ kind: "scale", name: "pool", replicas: 3 }], [held, ...others]);
    expect(notes).toEqual(['MachineDeployment "pool" stands still for now. Makes and deletes nothing: so it is']);
  });

  it("notes annotations whose names nobody knows", async () => {
    const misspelt = { annotations: { "machine.millwright.dev/canary-setps": "1/pause" } };
    const { notes } = await plan([apply(pool({}, misspelt))]);
    expect(notes).toEqual([expect.stringContaining("canary-setps, which nobody knows")]);
  });

  it("takes manifests that people wrote for a state: nothing of what an API server adds is there", async () => {
    const { uid: _, creationTimestamp: __, namespace: ___, ...metadata } = meta("pool");
    const written = { ...pool(), metadata };
    const { changes, namespace: planned } = await plan([{ kind: "scale", name: "pool", replicas: 5 }], [written]);
    expect(planned).toBe("default");
    expect(changes[0]).toMatchObject({ steps: [{ machinesCreated: [{ count: 5 }] }] });
  });

  it("leaves out what cannot be read of the state, and says so", async () => {
    const { notes } = await plan(
      [apply(pool())],
      [...world, { ...machine("c"), spec: { providerID: 5 } } as ApiObject],
    );
    expect(notes).toEqual([expect.stringContaining('Machine "c" cannot be read and is left out: spec.providerID')]);
  });
});

describe("readClusterState", () => {
  it("reads the same from an API server, and writes nothing", async () => {
    const api = aCluster();
    const state = await readClusterState({ control: api, target: api, namespace });
    const change = apply(pool({ template: template("big") }));
    const { changes, drains } = await planChanges(state, [change], { now });
    const fromFiles = await plan([change]);
    expect(changes.map(({ steps }) => steps.map(({ after }) => after))).toEqual(
      fromFiles.changes.map(({ steps }) => steps.map(({ after }) => after)),
    );
    expect(drains).toHaveLength(2);
    expect(drains.some(({ outcome }) => outcome === "blocked")).toBe(true);
    expect(api.writes()).toEqual([]);
  });

  it("reads from events how long deletions took", async () => {
    const api = aCluster();
    for (const event of [...lastEvents, { ...lastEvent("c", "9h"), reason: "Created" }]) api.seed(eventResource, event);
    api.seed(eventResource, lastEvent("other", "9h", { namespace: "other" }));
    const state = await readClusterState({ control: api, namespace });
    expect(state.events).toHaveLength(3);
    const { changes, notes } = await planChanges(state, [{ kind: "scale", name: "pool", replicas: 1 }], { now });
    expect(changes[0]).toMatchObject({ durations: { leaveMs: 180_000, leftMachines: 3 }, expectedMs: 180_000 });
    expect(notes).toEqual([]);
  });

  const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "events is forbidden" });
  it.each([
    [forbidden, "events is forbidden; allow to list events"],
    [serverError(), "the API server does not answer: etcdserver: request timed out"],
    [new TypeError("what is this"), "what is this"],
  ])("notes that events cannot be read, and plans without: %s", async (error, why) => {
    const api = aCluster();
    api.inject({ type: eventResource, error });
    const state = await readClusterState({ control: api, namespace });
    const { changes, notes } = await planChanges(state, [{ kind: "scale", name: "pool", replicas: 1 }], { now });
    expect(notes).toEqual([`Events cannot be read, which tell how long drains and deletions took: ${why}`]);
    expect(changes[0]?.durations).toMatchObject({ leaveMs: undefined, leftMachines: 0 });
  });

  it("asks for no events when nobody wants them", async () => {
    const api = aCluster();
    api.inject({ type: eventResource, error: serverError() });
    const { events, notes } = await readClusterState({ control: api, namespace, wantsEvents: false });
    expect({ events, notes }).toEqual({ events: [], notes: [] });
  });

  it("does without a cluster of nodes", async () => {
    const state = await readClusterState({ control: aCluster(), namespace });
    expect(state.nodes).toBeUndefined();
    expect(await planChanges(state, [{ kind: "scale", name: "pool", replicas: 1 }], { now })).toMatchObject({
      drains: [],
    });
  });

  it("says that the API server does not answer", async () => {
    const api = aCluster();
    api.inject({ type: machineResource, error: serverError(), times: 9 });
    await expect(readClusterState({ control: api, namespace })).rejects.toThrow("the API server does not answer");
  });
});
