import { aContext } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createMockDriver } from "./driver.ts";
import { aCloud, aMachine, aSpec, codeOf } from "./testing/mock-cloud.ts";
import { aStillCloud } from "./testing/still-cloud.ts";

it("a class with checkAfter has creations that are pending until the VM runs, and deletions until it is gone", async () => {
  const { clock, cloud } = aStillCloud();
  const { requestFor } = await aCloud("in process", clock);
  const driver = createMockDriver({ cloud });
  const request = requestFor(aMachine("m"), aSpec({ checkAfter: "30s", bootDelay: "20m" }));
  const create = () => driver.createMachine(request, aContext());
  const status = () => codeOf(driver.getMachineStatus(request, aContext()));
  const pending = { pending: { message: expect.stringMatching(/^VM i-[0-9a-f]+ is /), checkAfterMs: 30_000 } };

  expect(await create()).toEqual(pending);
  expect(await create()).toEqual(pending);
  expect([await status(), cloud.vms().length]).toEqual(["NotFound", 1]);
  await clock.advance(21 * 60_000);
  expect(await create()).toMatchObject({ nodeName: "m" });
  expect(await status()).toBe("OK");

  expect(await driver.deleteMachine(request, aContext())).toEqual(pending);
  expect(await driver.deleteMachine(request, aContext())).toEqual(pending);
  await clock.advance(10_000);
  expect(await driver.deleteMachine(request, aContext())).toEqual({ vm: "missing", showsNewVms: true });
});
