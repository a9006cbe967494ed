import { afterEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { startTargetCluster, type TargetCluster } from "../harness/target-cluster.ts";

const HOUR = 3_600_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Long enough for several reconciles of a Pending machine. */
const bootDelayMs = 3_000;

/** The shipped command, and API servers whose clocks differ from its own. */
describe("millwright run with clock skew", () => {
  let fleet: ControlledFleet;
  let target: TargetCluster | undefined;
  afterEach(async () => {
    await fleet.close();
    await target?.close();
    target = undefined;
  });

  const calls = (): readonly number[] => ["create", "delete"].map(fleet.callsOf);

  it.each([HOUR, -HOUR])("creates as many VMs as declared when the API server is ahead by %i ms", async (skewMs) => {
    fleet = await startControlledFleet({ bootDelayMs });
    fleet.server.faults.skewClock(skewMs);
    const controllers = fleet.run();
    await fleet.deploy(3);
    await fleet.untilRunning(3);
    await pause(2_000);
    expect(calls()).toEqual([3, 0]);
    await controllers.waitFor(/The local clock differs from that of an API server/);
    for (const { status, metadata } of await fleet.machines()) {
      const joinedMs = Date.parse(status?.currentStatus?.lastUpdateTime ?? "");
      const ageMs = joinedMs - Date.parse(metadata.creationTimestamp ?? "");
      expect(ageMs).toBeGreaterThanOrEqual(bootDelayMs - 2_000);
      expect(ageMs).toBeLessThan(60_000);
    }
  });

  it.each([HOUR, -HOUR])("keeps all VMs when the clock of the API server jumps by %i ms", async (jumpMs) => {
    fleet = await startControlledFleet({ bootDelayMs });
    fleet.run();
    await fleet.deploy(3);
    await eventually(async () => expect(fleet.cloud.vms()).toHaveLength(3));
    fleet.server.faults.skewClock(jumpMs);
    await fleet.untilRunning(3);
    fleet.server.faults.skewClock(0);
    await fleet.scale(4);
    await fleet.untilRunning(4);
    await pause(2_000);
    expect(calls()).toEqual([4, 0]);
  });

  it.each([HOUR, -HOUR])(
    "creates as many VMs as declared when the target API server is ahead by %i ms",
    async (skewMs) => {
      fleet = await startControlledFleet({ bootDelayMs });
      target = await startTargetCluster(fleet);
      target.server.faults.skewClock(skewMs);
      fleet.run(target.flag);
      await fleet.deploy(3);
      await fleet.untilRunning(3);
      await pause(2_000);
      expect(calls()).toEqual([3, 0]);
    },
  );
});
