import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStandbyFleet, FLEET, POOL, type StandbyFleet } from "../harness/standby-fleet.ts";
import { REAL_FLEET_MS, startRealFleet } from "./real-fleet.ts";

/** Watches, leases and conflicts of a real kube-apiserver; `test/resilience/takeover-under-load.test.ts` has more faults. */
describe("a leader that fails during a rollout and a scale-up on a real kube-apiserver", () => {
  let fleet: StandbyFleet;

  beforeAll(async () => {
    const installation = await startRealFleet({}, { latencyMs: 200 });
    fleet = await createStandbyFleet({ installation, server: installation.plane });
  }, REAL_FLEET_MS);
  afterAll(() => fleet.close(), 60_000);

  it("because it is killed, or because it loses the API server: no VM is doubled, lost or replaced", async () => {
    const first = fleet.start();
    await first.waitFor(/"Leading"/);
    await fleet.untilDone("small");
    const second = fleet.start({ viaProxy: true });
    await second.waitFor(/"Ready"/);
    fleet.invariants.requireRunningMachines(FLEET - 1);

    await fleet.beginLoad("big");
    fleet.expectEnd(first);
    await first.stop("SIGKILL");
    await second.waitFor(/"Leading"/);
    await fleet.untilDone("big");
    await fleet.invariants.check();
    expect(fleet.created()).toBe(2 * FLEET + POOL.after);

    const third = fleet.start();
    await third.waitFor(/"Ready"/);
    await fleet.beginLoad("small");
    fleet.expectEnd(second);
    fleet.proxy.stall();
    await third.waitFor(/"Leading"/);
    fleet.proxy.resume();
    expect(await second.ended).toBe(1);
    await fleet.untilDone("small");
    await fleet.invariants.check();
    expect(fleet.created()).toBe(3 * FLEET + POOL.after);
  });
});
