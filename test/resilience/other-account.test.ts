import { systemClock } from "@millwright/base";
import { phaseOf } from "@millwright/core/machine-api";
import { eventResource, secretResource } from "@millwright/kube";
import { createCloudServer, createSimulatedCloud } from "@millwright/provider-mock";
import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";

const namespace = "default";
const LONG = 120_000;

describe("millwright run with credentials of another account, in which every VM is unknown", () => {
  let fleet: ControlledFleet;
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const useEndpoint = (endpoint: string): Promise<unknown> =>
    fleet.api.patch(secretResource, { namespace, name: "cloud" }, { data: { endpoint } }, { kind: "merge" });

  it("deletes no Machine before its VM is deleted in its own account, although no Node shows that the VM runs", async () => {
    fleet = await startControlledFleet({}, {}, { heartbeatMs: 500, silenceMs: 2_000 });
    ends.push(() => fleet.close());
    const other = createSimulatedCloud({ clock: systemClock });
    const otherServer = createCloudServer(other);
    ends.push(() => otherServer.close());
    const { url } = await otherServer.listen();
    fleet.run("--machine-safety-orphan-vms-period=2s", "--machine-health-timeout=10m");
    await fleet.deploy(4);
    await fleet.untilRunning(4);
    const { data } = await fleet.api.get<{ readonly metadata: object; readonly data: { readonly endpoint: string } }>(
      secretResource,
      { namespace, name: "cloud" },
    );

    await useEndpoint(Buffer.from(url).toString("base64"));
    await eventually(async () => {
      const { items } = await fleet.api.list(eventResource, { namespace });
      expect(items.map(({ reason }) => reason)).toContain("VMsNotListed");
    }, LONG);
    const nodes = (await fleet.machines()).map(({ metadata }) => metadata.labels?.["node"] ?? "");
    fleet.server.clusterFaults.add({ kind: "kubelet-stops", nodes });
    await eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(nodes.map(() => "Unknown"));
    }, LONG);
    await fleet.scale(1);
    const held = /^VM mock:\S+ may still run: VMs of \d of 4 machines of MachineClass small are not listed/;
    await eventually(async () => {
      const texts = (await fleet.machines()).map(({ status }) => status?.lastOperation?.description ?? "");
      expect(texts.filter((text) => held.test(text))).toHaveLength(3);
    }, LONG);
    expect([(await fleet.machines()).length, fleet.cloud.vms().length]).toEqual([4, 4]);

    await useEndpoint(data.endpoint);
    await eventually(async () => {
      expect([(await fleet.machines()).length, fleet.cloud.vms().length]).toEqual([1, 1]);
    }, 2 * LONG);
    expect(fleet.callsOf("create")).toBe(4);
  });
});
