import { annotationKeys, machineResource } from "@millwright/core/machine-api";
import { ApiError } from "@millwright/kube";
import type { FakeVerb } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { annotated } from "../../testing/builders.ts";
import { ref, setUp } from "../../testing/machine-process.ts";

const MINUTE_MS = 60_000;

it("keeps the VM of a held machine while its status is refused for an hour, and reports the hold with the next attempt", async () => {
  const { api, clock, driver, start, machine, phase, create, join, writes } = setUp();
  const process = await start();
  create(annotated({ [annotationKeys.deletionProtection]: "true" }));
  await clock.advance(1_000);
  join();
  await clock.advance(10_000);
  expect(phase()).toBe("Running");
  const webhook = {
    verb: "patch" as FakeVerb,
    type: machineResource,
    subresource: "status",
    times: Number.POSITIVE_INFINITY,
    error: new ApiError({ status: 403, reason: "Forbidden", message: "denied by a webhook" }),
  };
  api.inject(webhook);
  const [reconciles, sent] = [process.reconciles(), writes().length];
  await api.delete(machineResource, ref);
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance(MINUTE_MS);
    expect([phase(), driver.vms.size]).toEqual(["Running", 1]);
  }
  // Half a second, a second … five minutes, each shortened by up to a half.
  const attempts = writes()
    .slice(sent)
    .filter((write) => write === "patch machines/status").length;
  expect(attempts).toBeGreaterThan(15);
  expect(attempts).toBeLessThan(35);
  expect(process.reconciles() - reconciles).toBeLessThan(60);

  webhook.verb = "replace";
  await clock.advance(5 * MINUTE_MS);
  expect(machine()?.status).toMatchObject({
    currentStatus: { phase: "Terminating" },
    lastOperation: { description: expect.stringMatching(/^Deletion paused: Machine machine is protected/) },
  });
  expect([driver.vms.size, driver.calls.filter((call) => call.startsWith("deleteVm"))]).toEqual([1, []]);
});
