import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  type Change,
  inPhase,
  labeled,
  named,
  ownedBy,
  refOf,
  testNamespace,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createMachineDeploymentController } from "./controller.ts";

const recreate: Change<MachineDeployment> = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };
const oldClass: Change<MachineSet> = { spec: { template: { spec: { class: { name: "old" } } } } };
const a = aMachineDeployment(named("a"));
const b = aMachineDeployment(named("b"));
const set = aMachineSet(named("set"), ownedBy(a), { spec: { replicas: 1 } });
const machine = aMachine(named("machine"), ownedBy(set), inPhase("Running"), labeled({ node: "node" }));

// Which events enqueue a deployment, as the reads of a reconcile show.
describe("a deployment is looked at", () => {
  let cluster: ReturnType<typeof createTestCluster>;
  let stop: AbortController;
  let context: ControllerContext;
  /** Names of the deployments that were looked at. */
  const reconciles: string[] = [];
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 40; turn++) await cluster.clock.advance(0);
    await cluster.clock.advance(20_000);
    for (let turn = 0; turn < 40; turn++) await cluster.clock.advance(0);
  };
  beforeEach(() => {
    cluster = createTestCluster();
    stop = new AbortController();
    reconciles.length = 0;
  });
  afterEach(() => stop.abort(new Error("the test is over")));

  async function start(...deployments: readonly MachineDeployment[]): Promise<void> {
    for (const deployment of deployments) cluster.api.seed(machineDeploymentResource, deployment);
    const plain = cluster.newContext();
    const synced = cluster.run(plain, stop.signal);
    await settle();
    await synced;
    const { store } = plain.caches.deployments;
    const get = (key: string): MachineDeployment | undefined => {
      reconciles.push(key.replace(`${testNamespace}/`, ""));
      return store.get(key);
    };
    context = {
      ...plain,
      caches: { ...plain.caches, deployments: { ...plain.caches.deployments, store: { ...store, get } } },
    };
    void createMachineDeploymentController(context, 2).start(stop.signal);
    await settle();
    reconciles.length = 0;
  }
  const looked = async (): Promise<readonly string[]> => {
    await settle();
    return [...new Set(reconciles)].toSorted();
  };

  it("74: with the one before when a set comes to be another's", async () => {
    cluster.api.seed(machineSetResource, set);
    await start(a, b);
    cluster.api.change(machineSetResource, refOf("set"), { metadata: ownedBy(b).metadata });
    expect(await looked()).toEqual(["a", "b"]);
  });

  it("not for a set that is delivered again unchanged", async () => {
    cluster.api.seed(machineSetResource, set);
    await start(a, b);
    const stored = context.caches.sets.store.getByRef(refOf("set"));
    if (stored === undefined) throw new Error("the set is not there");
    context.caches.sets.store.applyWrite(stored);
    cluster.api.compact();
    cluster.api.endWatches();
    expect(await looked()).toEqual([]);
  });

  it("75: for a machine of its own only, whatever changes in it, and writes nothing when that changes nothing", async () => {
    cluster.api.seed(machineSetResource, set);
    cluster.api.seed(machineResource, machine);
    await start(a, b);
    const writes = cluster.api.writes().length;
    cluster.api.change<Machine>(machineResource, refOf("machine"), { status: { lastKnownState: "x" } });
    expect(await looked()).toEqual(["a"]);
    expect(cluster.api.writes()).toHaveLength(writes);
  });

  it("75: for a node that was updated in place, and not for its heartbeats", async () => {
    cluster.api.seed(machineSetResource, set);
    cluster.api.seed(machineResource, machine);
    const withReason = (reason: string, lastHeartbeatTime: string) => ({
      status: { conditions: [{ type: "InPlaceUpdate", status: "True", reason, lastHeartbeatTime }] },
    });
    cluster.api.seed(nodeResource, aNode({ metadata: { name: "node" }, ...withReason("ReadyForUpdate", "1") }));
    await start(a, b);
    cluster.api.change(nodeResource, { name: "node" }, withReason("ReadyForUpdate", "2"));
    expect(await looked()).toEqual([]);
    cluster.api.change(nodeResource, { name: "node" }, withReason("UpdateSuccessful", "3"));
    expect(await looked()).toEqual(["a"]);
    reconciles.length = 0;
    cluster.api.change(nodeResource, { name: "node" }, withReason("UpdateSuccessful", "4"));
    expect(await looked()).toEqual([]);
  });

  it("76: when a machine is gone, and begins with the new template after the last one only (Recreate)", async () => {
    const owner = aMachineDeployment(named("a"), recreate);
    const last = aMachineSet(named("set"), ownedBy(owner), oldClass, { spec: { replicas: 0 } });
    cluster.api.seed(machineSetResource, last);
    for (const name of ["m1", "m2"]) cluster.api.seed(machineResource, aMachine(named(name), ownedBy(last)));
    await start(owner);
    const sets = () => cluster.api.all<MachineSet>(machineSetResource).length;
    cluster.api.remove(machineResource, refOf("m1"));
    expect([await looked(), sets()]).toEqual([["a"], 1]);
    cluster.api.remove(machineResource, refOf("m2"));
    expect([await looked(), sets()]).toEqual([["a"], 2]);
  });
});
