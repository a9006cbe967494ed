import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { FLEET, POOL, type StandbyFleet, startStandbyFleet } from "../harness/standby-fleet.ts";

/** What ends the leadership of a process, and what happens to the process after another one leads. */
interface Fault {
  readonly begin: (fleet: StandbyFleet, leader: MillwrightProcess) => void;
  readonly end: (fleet: StandbyFleet, leader: MillwrightProcess) => void;
  readonly status: number;
}

const faults: Readonly<Record<string, Fault>> = {
  "is killed": { begin: (_, { child }) => child.kill("SIGKILL"), end: () => undefined, status: 128 },
  "is stopped for longer than its leases, and continues": {
    begin: (_, { child }) => child.kill("SIGSTOP"),
    end: (_, { child }) => child.kill("SIGCONT"),
    status: 1,
  },
  "loses the API server but not the cloud, and gets it back": {
    begin: ({ proxy }) => proxy.stall(),
    end: ({ proxy }) => proxy.resume(),
    status: 1,
  },
};

describe("a leader that fails during a rollout, a scale-up and a deletion", () => {
  let fleet: StandbyFleet;

  beforeEach(async () => {
    fleet = await startStandbyFleet();
  });
  afterEach(async () => {
    await fleet.close();
  });

  it.each(Object.entries(faults))("which %s: no VM is doubled, lost or replaced", async (_, { begin, end, status }) => {
    const leader = fleet.start({ viaProxy: true });
    await leader.waitFor(/"Leading"/);
    await fleet.untilDone("small");
    const standby = fleet.start();
    await standby.waitFor(/"Ready"/);
    fleet.invariants.requireRunningMachines(FLEET - 1);

    await fleet.beginLoad("big");
    fleet.expectEnd(leader);
    begin(fleet, leader);
    await standby.waitFor(/"Leading"/);
    end(fleet, leader);
    expect(await leader.ended).toBe(status);
    await fleet.untilDone("big");
    await fleet.invariants.check();
    // Each machine of the rollout and of the scale-up once.
    expect(fleet.created()).toBe(2 * FLEET + POOL.after);

    // Deletions in the same way.
    const heir = fleet.start();
    await heir.waitFor(/"Ready"/);
    await fleet.beginDeletion();
    fleet.expectEnd(standby);
    standby.child.kill("SIGKILL");
    await heir.waitFor(/"Leading"/);
    await eventually(async () => expect(await fleet.installation.machines()).toHaveLength(FLEET));
    await eventually(async () => expect(await Promise.resolve(fleet.installation.cloud.vms())).toHaveLength(FLEET));
    await fleet.invariants.check();
    expect(fleet.created()).toBe(2 * FLEET + POOL.after);
  });
});
