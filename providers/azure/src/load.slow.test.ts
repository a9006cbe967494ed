import { systemClock } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/azure-cloud.ts";

const requests = Array.from({ length: 200 }, (_, index) => aRequest(aMachine(`m-${index}`)));
const nothing = { vms: [], nics: [], disks: [] };

describe("many machines at once", () => {
  it("200 creations make 200 VMs with a bounded number of requests", { timeout: 60_000 }, async () => {
    const { arm, driver } = await aCloud({ latencyMs: 5, vmMs: 100 }, { pollMs: 200 });
    const made = await Promise.all(requests.map((request) => driver.createMachine(request, aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(200);
    expect(arm.inventory().vms).toHaveLength(200);
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(200);
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(200);
    // Looking for VM and NIC of each would be 400 requests.
    expect(arm.log.count("VirtualMachines_List") + arm.log.count("NetworkInterfaces_List")).toBeLessThan(30);
    // The SDK asks for the VM when its operation has ended; operations are asked for at once, and then at every interval.
    expect(arm.log.count("VirtualMachines_Get")).toBe(200);
    expect(arm.log.count()).toBeLessThan(200 * 10);
    expect(arm.log.peakInFlight).toBeLessThanOrEqual(20);
    expect(arm.log.connections).toBeLessThanOrEqual(25);
  });

  it(
    "200 creations that Azure throttles come through when they are repeated, one VM each",
    { timeout: 60_000 },
    async () => {
      const { arm, driver } = await aCloud({ throttle: { burst: 100, perSecond: 400 } }, { pollMs: 100 });
      const create = async (index: number): Promise<void> => {
        for (;;) {
          const request = requests[index] ?? aRequest();
          const outcome: unknown = await driver.createMachine(request, aContext()).catch((error: unknown) => error);
          if (!(outcome instanceof Error)) return;
          expect(outcome).toMatchObject({ code: "Unavailable" });
          await systemClock.sleep(500);
        }
      };
      await Promise.all(requests.map((_, index) => create(index)));
      expect(arm.inventory().vms).toHaveLength(200);
      expect(arm.inventory().nics).toHaveLength(200);
    },
  );

  it("200 deletions leave nothing, and look for what is left together", { timeout: 60_000 }, async () => {
    const { arm, driver } = await aCloud({ deleteMs: 100 }, { pollMs: 100 });
    await Promise.all(requests.map((request) => driver.createMachine(request, aContext())));
    arm.log.clear();
    await Promise.all(requests.map((request) => driver.deleteMachine(request, aContext())));
    expect(arm.inventory()).toEqual(nothing);
    expect(arm.log.count("VirtualMachines_Get")).toBe(0);
    expect(arm.log.count("NetworkInterfaces_List") + arm.log.count("Disks_ListByResourceGroup")).toBeLessThan(150);
  });

  it("1000 calls one after the other hold on to nothing", { timeout: 60_000 }, async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    for (let call = 0; call < 1_000; call++) {
      await driver.getMachineStatus(aRequest(), aContext());
      arm.log.clear();
    }
    expect(arm.log.connections).toBeLessThanOrEqual(5);
  });
});
