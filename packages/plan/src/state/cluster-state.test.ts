import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, eventResource, nodeResource, podDisruptionBudgetResource, podResource } from "@millwright/kube";
import { createFakeApi, type FakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import {
  apply,
  lastEvent,
  lastEvents,
  manifests,
  namespace,
  now,
  pool,
  small,
  template,
  world,
} from "../testing/planned-world.ts";
import { readClusterState, stateOfManifests } from "./cluster-state.ts";
import { planChanges } from "../plan-changes.ts";

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

describe("readClusterState", () => {
  it("reads the same from an API server, and writes nothing", async () => {
    const api = aCluster();
    const state = await readClusterState({ control: api, target: api, namespace });
    const change = apply(pool({ template: template("big") }));
    const big = apply({ ...small, metadata: { ...small.metadata, name: "big" } });
    const { changes, drains } = await planChanges(state, [big, change], { now });
    const fromFiles = await planChanges(stateOfManifests(manifests(world), undefined, true), [big, change], { now });
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
    expect(changes[0]).toMatchObject({ durations: { deletionMs: 180_000, finishedDeletions: 3 }, expectedMs: 180_000 });
    expect(notes).toEqual([]);
  });

  const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "events is forbidden" });
  it.each([
    [forbidden, "events is forbidden; allow to list events"],
    [serverError(), "the API server is unreachable: etcdserver: request timed out"],
    [new TypeError("what is this"), "what is this"],
  ])("notes that events cannot be read, and plans without: %s", async (error, why) => {
    const api = aCluster();
    api.inject({ type: eventResource, error });
    const state = await readClusterState({ control: api, namespace });
    const { changes, notes } = await planChanges(state, [{ kind: "scale", name: "pool", replicas: 1 }], { now });
    expect(notes).toEqual([
      `Cannot estimate how long drains and deletions take, because events cannot be read: ${why}`,
    ]);
    expect(changes[0]?.durations).toMatchObject({ deletionMs: undefined, finishedDeletions: 0 });
  });

  it("reads no events when they are not wanted", async () => {
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

  it("reports that the API server is unreachable", async () => {
    const api = aCluster();
    api.inject({ type: machineResource, error: serverError(), times: 9 });
    await expect(readClusterState({ control: api, namespace })).rejects.toThrow("the API server is unreachable");
  });
});
