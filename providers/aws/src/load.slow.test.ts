import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "./testing/aws-cloud.ts";

describe("many machines at once", () => {
  it("200 creations make 200 VMs with a bounded number of requests", { timeout: 30_000 }, async () => {
    const { ec2, driver } = await aCloud({ latencyMs: 5, nameMs: 20 });
    const names = Array.from({ length: 200 }, (_, index) => `m-${index}`);
    const made = await Promise.all(names.map((name) => driver.createMachine(aRequest(aMachine(name)), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(200);
    expect(ec2.inventory().instances).toHaveLength(200);
    expect(ec2.log.count("RunInstances")).toBe(200);
    // Looking for each of them before and after would be 400 requests and more.
    expect(ec2.log.count() - 200).toBeLessThan(150);
    expect(ec2.log.peakInFlight).toBeLessThanOrEqual(20);
    expect(ec2.log.connections).toBeLessThanOrEqual(20);
  });

  it(
    "200 creations that EC2 throttles come through when they are repeated, one VM each",
    { timeout: 30_000 },
    async () => {
      const { ec2, driver } = await aCloud({ throttle: { burst: 50, perSecond: 150 } });
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
      await Promise.all(Array.from({ length: 200 }, (_, index) => create(`m-${index}`)));
      expect(ec2.inventory().instances).toHaveLength(200);
    },
  );

  it("200 deletions wait together", { timeout: 30_000 }, async () => {
    const { ec2, driver } = await aCloud({ shutdownMs: 100 });
    const requests = Array.from({ length: 200 }, (_, index) => aRequest(aMachine(`m-${index}`)));
    await Promise.all(requests.map((request) => driver.createMachine(request, aContext())));
    ec2.log.clear();
    await Promise.all(requests.map((request) => driver.deleteMachine(request, aContext())));
    expect(ec2.inventory()).toEqual({ instances: [], volumes: [], networkInterfaces: [] });
    expect(ec2.log.count("DescribeInstances")).toBeLessThan(100);
  });

  it("1000 calls one after the other hold on to nothing", { timeout: 60_000 }, async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    for (let call = 0; call < 1_000; call++) {
      await driver.getMachineStatus(aRequest(), aContext());
      ec2.log.clear();
    }
    expect(ec2.log.connections).toBeLessThanOrEqual(2);
  });
});
