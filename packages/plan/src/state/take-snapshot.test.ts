import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { ApiError, eventResource, nodeResource, podResource, secretResource } from "@millwright/kube";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { planChanges, planNext } from "../plan-changes.ts";
import { manifests, namespace, now, world } from "../testing/planned-world.ts";
import { stateOfManifests } from "./cluster-state.ts";
import { parseManifests } from "./read-manifests.ts";
import { takeSnapshot } from "./take-snapshot.ts";

const canary = "canary-91c04b";

function aCluster(): FakeApi {
  const api = createFakeApi({ clock: createVirtualClock() });
  const types = {
    MachineDeployment: machineDeploymentResource,
    MachineSet: machineSetResource,
    Machine: machineResource,
    Node: nodeResource,
    Pod: podResource,
  };
  for (const object of world) {
    const [, type] = Object.entries(types).find(([kind]) => kind === object.kind) ?? [];
    if (type !== undefined) api.seed(type, object);
  }
  const copy = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data: canary }), kept: "yes" };
  for (const name of ["small", "big"])
    api.seed(machineClassResource, {
      metadata: { name, namespace, annotations: copy },
      provider: "mock",
      providerSpec: {
        machineType: "m5",
        userData: canary,
        nested: [{ clientSecret: canary, adminPassword: canary, secretRef: { name: "kept" } }],
      },
      secretRef: { name: "cloud", namespace },
    } as never);
  api.seed(secretResource, {
    metadata: { name: "cloud", namespace, annotations: copy },
    data: { userData: canary },
  } as never);
  api.seed(podResource, {
    metadata: { name: "p", namespace: "shop", uid: "p", annotations: { token: canary } },
    spec: { nodeName: "n", containers: [{ env: [{ name: "PASSWORD", value: canary }] }] },
  } as never);
  return api;
}
const snapshotOf = (api: FakeApi, target: FakeApi | undefined = api) =>
  takeSnapshot({ control: api, target, namespace, now, version: "1.2.3" });

describe("takeSnapshot", () => {
  it("has no data of Secrets, no user data, and no confidential value", async () => {
    const snapshot = await snapshotOf(aCluster());
    const text = JSON.stringify(snapshot);
    expect(text).not.toContain(canary);
    expect(text).toContain('"machineType":"m5"');
    expect(text).toContain('"secretRef":{"name":"kept"}');
    expect(text).toContain('"kept":"yes"');
    expect(snapshot.items.find(({ kind }) => kind === "Secret")?.metadata.name).toBe("cloud");
  });

  it("leads to the same plan as the cluster, at the time of the snapshot", async () => {
    const api = aCluster();
    const text = JSON.stringify(await snapshotOf(api));
    const state = stateOfManifests(parseManifests("snapshot", text), undefined, true);
    expect(state.takenAt).toEqual(now);
    const direct = stateOfManifests(manifests(world), undefined, true);
    const change = { kind: "scale", name: "pool", replicas: 1 } as const;
    const stepsOf = async (from: typeof state) =>
      (await planChanges(from, [change], { now })).changes.map(({ steps }) => steps);
    expect(await stepsOf(state)).toEqual(await stepsOf(direct));
    expect(api.writes()).toEqual([]);
  });

  it("leaves out what may not be read and is not needed, with a note", async () => {
    const api = aCluster();
    const error = new ApiError({ status: 403, reason: "Forbidden", message: "not for you" });
    api.inject({ verb: "list", type: eventResource, error });
    expect((await snapshotOf(api)).notes).toEqual(["events are left out: not for you"]);
    api.inject({ verb: "list", type: machineResource, error });
    await expect(snapshotOf(api)).rejects.toThrow("not for you; a snapshot needs to list machinedeployments");
  });

  it("has no nodes where machines join no cluster, and neither has its state", async () => {
    const snapshot = await takeSnapshot({ control: aCluster(), namespace, now, version: "1" });
    expect(snapshot.items.some(({ kind }) => kind === "Node")).toBe(false);
    const state = stateOfManifests(parseManifests("snapshot", JSON.stringify(snapshot)), undefined, true);
    expect(state.nodes).toBeUndefined();
  });
});

describe("planNext", () => {
  it("shows what the controllers do next with every deployment", async () => {
    const state = stateOfManifests(manifests(world), undefined, true);
    const plan = await planNext(state, { now });
    expect(plan.changes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      state.deployments.map(({ metadata }) => `MachineDeployment ${metadata.name}`),
    );
    const fewer = { ...state, machines: state.machines.slice(1) };
    const next = await planNext(fewer, { now });
    expect(next.hasEffect).toBe(true);
    expect(next.changes.flatMap(({ steps }) => steps.flatMap(({ machinesCreated }) => machinesCreated))).not.toEqual(
      [],
    );
  });
});
