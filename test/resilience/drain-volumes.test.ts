import { volumeAttachmentResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aDaemonSet, aStatefulSet, storageClass } from "../harness/manifests.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Pods with volumes leave one after another, whatever happens to volumes, processes and nodes on the way. */
describe("a drain and the volumes of its pods", () => {
  // Mere progress is written every ten seconds: what is to be read there has to last longer.
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;

  const begin = async (...flags: readonly string[]): Promise<void> => {
    fleet = await startDrainingFleet(2, ...flags);
    ({ machine, node } = await fleet.victim());
  };
  afterEach(() => fleet.close());

  /** A database that can lose one pod: all pods start at once, on one node. */
  const database = (replicas: number) => [
    storageClass,
    { ...aStatefulSet("db", replicas), spec: { ...parallel, ...specOf(replicas) } },
  ];
  const parallel = { podManagementPolicy: "Parallel" };
  const specOf = (replicas: number): object => aStatefulSet("db", replicas)["spec"] ?? {};
  const settled = (): Promise<string> => fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=40s"]);

  it("moves a database one pod at a time, each with its volumes attached again before the next goes", async () => {
    await begin();
    await fleet.fillNode(node, 3, ...database(3));
    fleet.invariants.requireAttachedVolumes(2);
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 60_000);
    expect(fleet.evicted()).toEqual(["db-0", "db-1", "db-2"]);
    await settled();
    await fleet.invariants.check();
  });

  it("keeps moving one pod at a time over kills in the middle", async () => {
    await begin();
    await fleet.fillNode(node, 4, ...database(4));
    fleet.invariants.requireAttachedVolumes(3);
    await fleet.deleteMachine(machine);
    for (const count of [1, 2]) {
      await eventually(async () => expect(fleet.evicted().length).toBeGreaterThanOrEqual(count));
      const restart = await fleet.kill();
      await pause(300);
      restart();
    }
    await fleet.untilMachineDeleted(machine, 60_000);
    expect(fleet.evicted()).toEqual(["db-0", "db-1", "db-2", "db-3"]);
    await settled();
    await fleet.invariants.check();
  });

  it("names volumes that are not let go, waits as long as the flag lastOperation, and then goes on", async () => {
    await begin("--machine-pv-detach-timeout=15s");
    await fleet.fillNode(node, 2, ...database(2));
    fleet.server.clusterFaults.add({ kind: "never-detaches", nodes: [node] });
    const begun = Date.now();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, /default\/db-0: waiting for volumes pvc-\S+ to be detached/);
    await eventually(async () => expect(fleet.evicted()).toEqual(["db-0", "db-1"]), 40_000);
    // Its grace of one second, and those of the flag.
    expect(Date.now() - begun).toBeGreaterThan(16_000);
    fleet.server.clusterFaults.clear();
    await fleet.untilMachineDeleted(machine, 60_000);
    await settled();
    await fleet.invariants.check();
  });

  it("waits no longer than the flag says for volumes to arrive elsewhere", async () => {
    await begin("--machine-pv-reattach-timeout=15s");
    await fleet.fillNode(node, 2, ...database(2));
    const others = (await fleet.machines()).map(({ metadata }) => metadata.labels?.["node"] ?? "");
    fleet.server.clusterFaults.add({ kind: "never-attaches", nodes: others.filter((name) => name !== node) });
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, /default\/db-0: waiting for volumes pvc-\S+ to be attached elsewhere/);
    expect(fleet.evicted()).toEqual(["db-0"]);
    await eventually(async () => expect(fleet.evicted()).toEqual(["db-0", "db-1"]), 40_000);
    fleet.server.clusterFaults.clear();
    await fleet.untilMachineDeleted(machine, 60_000);
    await settled();
    await fleet.invariants.check();
  });

  it("does not wait for places that nobody has when the whole fleet goes", async () => {
    await begin();
    await fleet.fillNode(node, 2, ...database(2));
    const begun = Date.now();
    await fleet.kubectl(["delete", "machinedeployment", "--all", "--wait=false"]);
    await fleet.untilMachineDeleted(machine, 80_000);
    expect(fleet.evicted()).toEqual(["db-0", "db-1"]);
    // A quarter of a minute for each of them to find a place, not the minute and a half of the flag's default.
    expect(Date.now() - begun).toBeGreaterThan(15_000);
    await fleet.invariants.check();
  });

  it("moves 60 volumes off a node whose CSI driver runs on it, to the end and in order (89)", async () => {
    await begin();
    await fleet.fillNode(node, 61, aDaemonSet("csi-driver"), ...database(60));
    fleet.invariants.requireAttachedVolumes(59);
    await fleet.deleteMachine(machine);
    await eventually(async () => expect(fleet.evicted().length).toBeGreaterThan(30), 120_000);
    // The driver of the volumes stays as long as there are volumes.
    expect((await fleet.podsOn(node)).some(({ metadata }) => metadata.name?.startsWith("csi-driver"))).toBe(true);
    await fleet.untilMachineDeleted(machine, 120_000);
    expect(fleet.evicted()).toHaveLength(60);
    await settled();
    await fleet.invariants.check();
  });

  it("leaves no volume attached to a node that is gone", async () => {
    await begin();
    await fleet.fillNode(node, 2, ...database(2));
    fleet.invariants.allowForce();
    await fleet.kubectl(["label", "machine", machine, "force-deletion=True"]);
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 30_000);
    await settled();
    await eventually(async () => {
      const { items } = await fleet.api.list<{ metadata: object; spec?: { nodeName?: string } }>(
        volumeAttachmentResource,
      );
      expect(items.map(({ spec }) => spec?.nodeName)).not.toContain(node);
      expect(items).toHaveLength(2);
    });
    await fleet.invariants.check();
  });
});
