import { volumeAttachmentResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type DrainingFleet, startDrainingFleet } from "../harness/draining-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { aDaemonSet, aStatefulSet, storageClass } from "../harness/manifests.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Pods with volumes are evicted one after another, whatever fails meanwhile. */
describe("a drain and persistent volumes", () => {
  // Progress is written every ten seconds: a state to be observed has to last longer.
  let fleet: DrainingFleet;
  let machine: string;
  let node: string;

  const begin = async (...flags: readonly string[]): Promise<void> => {
    fleet = await startDrainingFleet(2, ...flags);
    ({ machine, node } = await fleet.victim());
  };
  afterEach(() => fleet.close());

  /** A StatefulSet whose pods all start at once, on one node. */
  const database = (replicas: number) => [
    storageClass,
    { ...aStatefulSet("db", replicas), spec: { ...parallel, ...specOf(replicas) } },
  ];
  const parallel = { podManagementPolicy: "Parallel" };
  const specOf = (replicas: number): object => aStatefulSet("db", replicas)["spec"] ?? {};
  const settled = (): Promise<string> => fleet.kubectl(["rollout", "status", "statefulset/db", "--timeout=40s"]);

  it("evicts one pod with volumes at a time, each after the volumes of the previous one are attached again", async () => {
    await begin();
    await fleet.fillNode(node, 3, ...database(3));
    fleet.invariants.requireAttachedVolumes(2);
    await fleet.deleteMachine(machine);
    await fleet.untilMachineDeleted(machine, 60_000);
    expect(fleet.evicted()).toEqual(["db-0", "db-1", "db-2"]);
    await settled();
    await fleet.invariants.check();
  });

  it("still evicts one pod at a time when it is killed during the drain", async () => {
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

  it("names volumes that are not detached, waits until the detach timeout, and continues", async () => {
    await begin("--machine-pv-detach-timeout=15s");
    await fleet.fillNode(node, 2, ...database(2));
    fleet.server.clusterFaults.add({ kind: "never-detaches", nodes: [node] });
    const begun = Date.now();
    await fleet.deleteMachine(machine);
    await fleet.untilLastOperation(machine, /default\/db-0: waiting for volumes pvc-\S+ to be detached/);
    await eventually(async () => expect(fleet.evicted()).toEqual(["db-0", "db-1"]), 40_000);
    // The grace period of one second, and the detach timeout.
    expect(Date.now() - begun).toBeGreaterThan(16_000);
    fleet.server.clusterFaults.clear();
    await fleet.untilMachineDeleted(machine, 60_000);
    await settled();
    await fleet.invariants.check();
  });

  it("names volumes that are still attached when the drain ends, in an event", async () => {
    await begin("--machine-pv-detach-timeout=3s");
    await fleet.fillNode(node, 1, ...database(1));
    fleet.server.clusterFaults.add({ kind: "never-detaches", nodes: [node] });
    await fleet.deleteMachine(machine);
    const words = `Drain ended, but volumes are still attached to Node ${node}: pvc-`;
    const reports = async () => (await fleet.eventsOf(machine)).filter((message) => message.startsWith(words));
    await eventually(async () => expect(await reports()).toHaveLength(1), 40_000);
    fleet.server.clusterFaults.clear();
    await fleet.untilMachineDeleted(machine, 110_000);
    expect((await fleet.eventsOf(machine)).filter((message) => message.includes("Drain successful"))).toEqual([]);
    await settled();
    await fleet.invariants.check();
  });

  it("waits for volumes to be attached elsewhere until the reattach timeout", async () => {
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

  it("shortens the wait for volumes when no other node can attach them", async () => {
    await begin();
    await fleet.fillNode(node, 2, ...database(2));
    const begun = Date.now();
    await fleet.kubectl(["delete", "machinedeployment", "--all", "--wait=false"]);
    await fleet.untilMachineDeleted(machine, 80_000);
    expect(fleet.evicted()).toEqual(["db-0", "db-1"]);
    // A quarter of a minute for each of them to be scheduled, not the minute and a half of the flag's default.
    expect(Date.now() - begun).toBeGreaterThan(15_000);
    await fleet.invariants.check();
  });

  it("moves 60 volumes in order off a node that runs their CSI driver", async () => {
    await begin();
    await fleet.fillNode(node, 61, aDaemonSet("csi-driver"), ...database(60));
    fleet.invariants.requireAttachedVolumes(59);
    await fleet.deleteMachine(machine);
    await eventually(async () => expect(fleet.evicted().length).toBeGreaterThan(30), 120_000);
    // The CSI driver stays until its volumes are detached.
    expect((await fleet.podsOn(node)).some(({ metadata }) => metadata.name?.startsWith("csi-driver"))).toBe(true);
    await fleet.untilMachineDeleted(machine, 120_000);
    expect(fleet.evicted()).toHaveLength(60);
    await settled();
    await fleet.invariants.check();
  });

  it("leaves no volume attached to a deleted node", async () => {
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
