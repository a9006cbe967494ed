import type { FaultEnd } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainProperties } from "./testing/azure-cloud.ts";
import { roleOfReadme } from "./testing/readme-role.ts";

const { storageProfile } = plainProperties;
const provider = "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Compute";
const image = (imageReference: object) => ({ storageProfile: { ...storageProfile, imageReference } });

/** Classes that together make use of all that a role has to allow. */
const classes: readonly Readonly<Record<string, unknown>>[] = [
  {
    storageProfile: {
      ...storageProfile,
      imageReference: { urn: "kinvolk:flatcar:stable:4081.2.0" },
      dataDisks: [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/data" } }],
    },
  },
  {
    ...image({ id: `${provider}/images/i` }),
    identityID: `${provider.replace("Compute", "ManagedIdentity")}/userAssignedIdentities/i`,
  },
  { ...image({ id: `${provider}/galleries/g/images/i/versions/1.0.0` }), zone: null, availabilitySet: { id: "/set" } },
  { zone: null, virtualMachineScaleSet: { id: "/vmss" } },
  { capacityReservation: { capacityReservationGroupID: `${provider}/capacityReservationGroups/r` } },
];

/** What Azure may ask for beside its requests, and the emulator does not. */
const beyondTheEmulator = new Set([
  "Microsoft.Compute/availabilitySets/read",
  "Microsoft.Compute/virtualMachineScaleSets/read",
  "Microsoft.Compute/capacityReservationGroups/read",
  "Microsoft.Compute/capacityReservationGroups/capacityReservations/read",
  "Microsoft.Compute/capacityReservationGroups/capacityReservations/deploy/action",
  // The SDK looks at the state of an operation, where it has the choice, and not at its result.
  "Microsoft.Network/locations/operationResults/read",
]);

const failedState: FaultEnd = {
  kind: "reply",
  reply: {
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ properties: { provisioningState: "Failed" } }),
  },
};

describe("the role in the README", () => {
  // That nothing else is asked for shows in every test of this driver: `aCloud` allows no more.
  it("has what the driver asks for, and nothing else", async () => {
    const { arm, driver } = await aCloud({ partMs: 1 });
    // The operation contains the reason of a failure.
    for (const operation of ["NetworkInterfaces_Get", "Disks_Get"]) arm.faults.add({ operation, end: failedState });
    arm.world.vmFailures.set("m-0", { code: "AllocationFailed", message: "no" });
    await expect(
      driver.createMachine(aRequest(aMachine("m-0"), { properties: classes[0] ?? {} }), aContext()),
    ).rejects.toMatchObject({ code: "ResourceExhausted" });
    for (const [index, properties] of classes.entries()) {
      const request = aRequest(aMachine(`m-${index}`), { properties });
      await driver.createMachine(request, aContext());
      await driver.getMachineStatus(request, aContext());
      await driver.listMachines?.(request, aContext());
      await driver.findDrift?.(request, aContext());
      await driver.getNodeTemplate?.(request, aContext());
      // A VM that cannot be changed any more leaves its NIC and disks, which are deleted one by one then.
      const vm = arm.vm(request.machine.name);
      for (const part of [...vm.nics, ...vm.disks]) part.deleteOption = "Detach";
      vm.provisioningState = index === 0 ? "Failed" : "Succeeded";
      await driver.deleteMachine(request, aContext());
    }
    const inLowerCase = (actions: Iterable<string>): string[] =>
      [...actions].map((action) => action.toLowerCase()).toSorted();
    const listed = roleOfReadme.filter((action) => !beyondTheEmulator.has(action));
    expect(inLowerCase(listed)).toEqual(inLowerCase(arm.world.askedActions));
    expect(roleOfReadme).toEqual(expect.arrayContaining([...beyondTheEmulator]));
  });

  it.each([
    ["Microsoft.Compute/virtualMachines/write", /creating Standard_D2s_v5.*give the application/],
    ["Microsoft.Network/virtualNetworks/subnets/join/action", /creating NIC "m-nic".*LinkedAuthorizationFailed/],
  ])("without %s fails with the missing action", async (action, message) => {
    const { driver } = await aCloud({ actions: roleOfReadme.filter((other) => other !== action) });
    const failure: unknown = await driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "PermissionDenied", message: expect.stringMatching(message) });
    expect(String(failure)).toContain(action);
  });
});
