import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/gcp-cloud.ts";

const names = Array.from({ length: 200 }, (_, index) => `m-${index}`);

describe("many machines at once", () => {
  it("200 creations make 200 VMs with a bounded number of requests", { timeout: 30_000 }, async () => {
    const { gce, driver } = await aCloud({ latencyMs: 5, operationMs: 300, provisioningMs: 200 });
    const made = await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(200);
    expect(gce.inventory().instances).toHaveLength(200);
    expect(gce.log.count("instances.insert")).toBe(200);
    // One for each operation, when it is done as a rule.
    expect(gce.log.count("zoneOperations.wait")).toBeLessThanOrEqual(220);
    // Looking for each of them before and after would be 400 requests.
    expect(gce.log.count("instances.get") + gce.log.count("instances.list")).toBeLessThan(100);
    expect(gce.log.count("oauth2.token")).toBe(1);
    // 20 requests, and 50 that wait.
    expect(gce.log.peakInFlight).toBeLessThanOrEqual(70);
  });

  it(
    "200 creations that are throttled come through when they are repeated, one VM each",
    { timeout: 60_000 },
    async () => {
      const { gce, driver } = await aCloud({ throttle: { burst: 50, perSecond: 150 } });
      const create = async (name: string): Promise<void> => {
        for (;;) {
          const outcome = await driver
            .createMachine(aRequest(aMachine(name)), aContext())
            .catch((error: unknown) => error);
          if (!(outcome instanceof Error)) return;
          expect(outcome).toMatchObject({ code: "Unavailable" });
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      };
      await Promise.all(names.map(create));
      expect(gce.inventory().instances).toHaveLength(200);
    },
  );

  it("200 deletions end together and leave nothing", { timeout: 30_000 }, async () => {
    const { gce, driver } = await aCloud({ operationMs: 100 });
    const requests = names.map((name) => aRequest(aMachine(name)));
    await Promise.all(requests.map((request) => driver.createMachine(request, aContext())));
    gce.log.clear();
    await Promise.all(requests.map((request) => driver.deleteMachine(request, aContext())));
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
    expect(gce.log.count("instances.delete")).toBe(200);
    expect(gce.log.count("instances.get") + gce.log.count("instances.list")).toBeLessThan(50);
  });

  it("an answer of 100 MiB is given up before it is all there", { timeout: 30_000 }, async () => {
    const { gce, driver } = await aCloud();
    const reply = { status: 200, body: " ".repeat(100 * 1024 * 1024) };
    gce.faults.add({ operation: "instances.get", end: { kind: "reply", reply } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("more than 67108864 bytes"),
    });
  });

  it("1000 calls one after the other hold on to nothing", { timeout: 60_000 }, async () => {
    const { gce, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const before = gce.log.connections;
    for (let call = 0; call < 1_000; call++) {
      await driver.getMachineStatus(aRequest(), aContext());
      gce.log.clear();
    }
    expect(gce.log.connections - before).toBeLessThanOrEqual(2);
  });
});
