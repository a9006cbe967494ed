import { machineResource } from "@millwright/core/machine-api";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { startTargetCluster } from "../harness/target-cluster.ts";

const namespace = "default";

/** Restarts and failovers of the shipped command during an outage of the target cluster. */
describe("millwright run", () => {
  let fleet: ControlledFleet;
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await fleet.close();
    for (const end of ends.splice(0).toReversed()) await end();
  });

  /** Two machines that run in two clusters, and how their controllers are started. */
  async function twoClusters() {
    fleet = await startControlledFleet();
    const target = await startTargetCluster(fleet);
    ends.push(target.close);
    const run = () => fleet.run(target.flag, "--machine-safety-apiserver-statuscheck-timeout=2s");
    const first = run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    return { server: target.server, run, first };
  }
  const texts = async () => (await fleet.machines()).map(({ status }) => status?.lastOperation?.description);
  const phases = async () =>
    (await fleet.machines())
      .map(({ status }) => status?.currentStatus?.phase ?? "")
      .toSorted((a, b) => a.localeCompare(b));

  it("creates VMs although it started while the target API server was down, deletes none, and continues when it is up", async () => {
    const { server, run, first } = await twoClusters();
    expect(await first.stop("SIGTERM")).toBe(0);
    const restarted = server.restart({ downMs: 25_000 });
    const second = run();
    await fleet.scale(4);
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(4), 20_000);
    const machine = (await fleet.machines()).find(({ status }) => status?.currentStatus?.phase === "Running");
    await fleet.api.delete(machineResource, { namespace, name: machine?.metadata.name ?? "" });
    await eventually(async () => {
      expect(await texts()).toContainEqual(expect.stringContaining("Cannot determine whether the node"));
      expect(await texts()).toContainEqual(expect.stringContaining("Nodes and pods are not listed yet"));
      // One for each of three machines, and the replacement of the deleted one.
      expect(await phases()).toEqual(["Pending", "Pending", "Pending", "Running", "Terminating"]);
    }, 20_000);
    expect([fleet.callsOf("create"), fleet.callsOf("delete")]).toEqual([5, 0]);
    expect(second.output()).not.toContain('"msg":"Ready"');
    await restarted;
    await fleet.untilRunning(4);
    expect([fleet.callsOf("create"), second.child.exitCode]).toEqual([5, null]);
  });

  it("creates VMs when it takes the lead while the target API server is down, as a standby that knew the nodes", async () => {
    const { server, run, first } = await twoClusters();
    const standby = run();
    await standby.waitFor(/"Ready"/);
    const restarted = server.restart({ downMs: 25_000 });
    await first.stop("SIGKILL");
    await standby.waitFor(/"Leading"/);
    await fleet.scale(3);
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(3), 15_000);
    await standby.waitFor(/Leading without a new list of some kinds/);
    await eventually(async () => expect(await phases()).toEqual(["Pending", "Running", "Running"]), 10_000);
    expect(fleet.callsOf("delete")).toBe(0);
    await restarted;
    await fleet.untilRunning(3);
    expect([fleet.callsOf("create"), fleet.callsOf("delete"), standby.child.exitCode]).toEqual([3, 0, null]);
  });
});
