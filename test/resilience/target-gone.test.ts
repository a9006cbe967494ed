import { type Machine, machineResource } from "@millwright/core/machine-api";
import { eventResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { startTargetCluster, type TargetCluster } from "../harness/target-cluster.ts";

const namespace = "default";
/** Only catches hangs, milliseconds. */
const LONG = 60_000;

describe("a target cluster that is gone for good", () => {
  let fleet: ControlledFleet;
  let target: TargetCluster;
  afterEach(async () => {
    await fleet.close();
    await target.close();
  });

  const run = () => fleet.runAlone(target.flag, "--machine-safety-apiserver-statuscheck-timeout=3s");
  const texts = async () => (await fleet.machines()).map(({ status }) => status?.lastOperation?.description);
  const force = async (machines: readonly Machine[]): Promise<void> => {
    for (const { metadata } of machines)
      await fleet.api.patch(
        machineResource,
        { namespace, name: metadata.name },
        { metadata: { labels: { "force-deletion": "True" } } },
        { kind: "merge" },
      );
  };
  const eventsOf = async (reason: string) =>
    (await fleet.api.list(eventResource, { namespace })).items
      .filter((event) => event["reason"] === reason)
      .map((event) => `${String(event["type"])} ${String(event["message"])}`)
      .toSorted();

  const skipped = ({ metadata }: Machine): string =>
    `Warning The API server of the nodes is unreachable: Node ${metadata.labels?.["node"] ?? ""} is not deleted`;
  const untilGoneWithoutNode = (machines: readonly Machine[]): Promise<void> =>
    eventually(async () => {
      expect(await eventsOf("NodeNotDeleted")).toEqual(machines.map(skipped).toSorted());
      const names = machines.map(({ metadata }) => metadata.name);
      expect((await fleet.machines()).filter(({ metadata }) => names.includes(metadata.name))).toEqual([]);
    }, LONG);
  const wayOut = /unreachable; if it is gone for good, set the label force-deletion=True/;

  it("keeps Machines whose VM is gone until a person forces their deletion, which names the Nodes that are not deleted", async () => {
    fleet = await startControlledFleet({ deleteDelayMs: 5_000 });
    target = await startTargetCluster(fleet);
    const controllers = run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    const machines = await fleet.machines();
    await fleet.scale(0);
    await eventually(async () => {
      const states = fleet.cloud.vms().map(({ state }) => state);
      expect(await Promise.resolve(states)).toEqual(["terminating", "terminating"]);
    }, LONG);
    await target.server.close();
    const waits = new RegExp(`^VM deletion was successful.* ${wayOut.source}`);
    const both = [expect.stringMatching(waits), expect.stringMatching(waits)];
    await eventually(async () => expect(await texts()).toEqual(both), LONG);
    await force(machines.slice(0, 1));
    await untilGoneWithoutNode(machines.slice(0, 1));
    // A process that starts now has never had a list of the Nodes.
    await controllers.stop("SIGKILL");
    run();
    await force(machines.slice(1));
    await untilGoneWithoutNode(machines);
  });

  it("deletes the VMs of forced deletions without a drain, and not their Nodes", async () => {
    fleet = await startControlledFleet();
    target = await startTargetCluster(fleet);
    run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    const machines = await fleet.machines();
    await target.server.close();
    await fleet.scale(0);
    await eventually(async () => {
      expect(await texts()).toEqual([expect.stringMatching(wayOut), expect.stringMatching(wayOut)]);
    }, LONG);
    expect(fleet.cloud.vms()).toHaveLength(2);
    await force(machines);
    await fleet.untilGone(LONG);
    await untilGoneWithoutNode(machines);
  });
});
