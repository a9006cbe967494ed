import { afterAll, beforeAll, expect, it } from "vitest";
import { collectLeaks } from "../harness/leak-scenario.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

let fleet: RealFleet;
beforeAll(async () => {
  fleet = await startRealFleet();
}, REAL_FLEET_MS);
afterAll(() => fleet.close(), 60_000);

it(
  "finds, reports and collects VMs without machine on a real kube-apiserver, whatever lost their machines, and no other VM",
  { timeout: 1_500_000 },
  async () => {
    const { collected, vms, named } = await collectLeaks(fleet);
    expect(collected).toHaveLength(5);
    expect(vms).toHaveLength(1);
    expect(vms).toEqual(named);
  },
);
