import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "../testing/gcp-cloud.ts";

const providerId = "gce:///my-project/europe-west1-b/m";
const unknownId = () => aRequest();
const knownId = () => aRequest(aMachine("m", { providerId }));

/** What a call comes to: the id that it answers, or what it fails with. */
const outcomeOf = (call: Promise<{ readonly providerId: string }>): Promise<string> =>
  call.then(
    (answer) => answer.providerId,
    (error: unknown) => String(error),
  );

const unavailable = (message: string) => expect.stringMatching(new RegExp(`Unavailable.*${message}`));

const notFound = (message: string) => expect.stringMatching(new RegExp(`NotFound.*${message}`));

describe("a VM whose status is", () => {
  it.each([
    ["PENDING", notFound("still being created \\(PENDING\\)"), providerId],
    ["PROVISIONING", notFound("still being created \\(PROVISIONING\\)"), providerId],
    ["STAGING", notFound("still being created \\(STAGING\\)"), providerId],
    ["RUNNING", providerId, providerId],
    // Compute Engine keeps it; whether its node is well is seen at the node.
    ["REPAIRING", providerId, providerId],
    ["PENDING_STOP", unavailable("\\(PENDING_STOP\\)"), unavailable("\\(PENDING_STOP\\)")],
    ["STOPPING", unavailable("\\(STOPPING\\)"), unavailable("\\(STOPPING\\)")],
    ["SUSPENDING", unavailable("\\(SUSPENDING\\)"), unavailable("\\(SUSPENDING\\)")],
    ["DEPROVISIONING", unavailable("\\(DEPROVISIONING\\)"), unavailable("\\(DEPROVISIONING\\)")],
    ["STOPPED", providerId, providerId],
    ["SUSPENDED", providerId, providerId],
    ["TERMINATED", providerId, providerId],
  ] as const)("%s", async (status, statusWithoutId, adoption) => {
    const { driver, gce } = await aCloud();
    await driver.createMachine(unknownId(), aContext());
    gce.hold("m", status);
    expect(await outcomeOf(driver.getMachineStatus(unknownId(), aContext()))).toEqual(statusWithoutId);
    // A machine whose VM is known has it, whatever becomes of it, until it is gone.
    expect(await outcomeOf(driver.getMachineStatus(knownId(), aContext()))).toBe(providerId);
    expect(await outcomeOf(driver.createMachine(unknownId(), aContext()))).toEqual(adoption);
    await expect(driver.listMachines?.(unknownId(), aContext())).resolves.toMatchObject({ machines: [{ providerId }] });
  });

  it.each([
    "PENDING",
    "PROVISIONING",
    "STAGING",
    "RUNNING",
    "REPAIRING",
    "PENDING_STOP",
    "STOPPING",
    "SUSPENDING",
    "STOPPED",
    "SUSPENDED",
    "TERMINATED",
  ] as const)("%s can be deleted", async (status) => {
    const { driver, gce } = await aCloud();
    await driver.createMachine(unknownId(), aContext());
    gce.hold("m", status);
    await driver.deleteMachine(knownId(), aContext());
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });

  it("DEPROVISIONING cannot be deleted once more, and its end is waited for", async () => {
    const { driver, gce } = await aCloud();
    await driver.createMachine(unknownId(), aContext());
    gce.hold("m", "DEPROVISIONING");
    const deleting = driver.deleteMachine(knownId(), aContext());
    await expect.poll(() => gce.log.count("instances.delete")).toBeGreaterThan(1);
    gce.remove("m");
    await deleting;
    expect(gce.inventory()).toEqual({ instances: [], disks: [] });
  });
});
