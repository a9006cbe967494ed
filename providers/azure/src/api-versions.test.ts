import { describe, expect, it } from "vitest";
import { defaultApiVersions } from "./spec/api-versions.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf, plainProperties } from "./testing/azure-cloud.ts";

const everyDefault = Object.fromEntries(Object.entries(defaultApiVersions).map(([type, version]) => [type, [version]]));

/** A cloud whose virtual machines have one api-version, which is older than the default. */
const olderVms = {
  apiVersions: { ...everyDefault, "Microsoft.Compute/virtualMachines": ["2022-11-01", "2023-03-01"] },
};

const cloudConfiguration = (apiVersions: Readonly<Record<string, string>>) => ({
  spec: { cloudConfiguration: { name: "AzureChina", apiVersions } },
});

describe("a cloud that has no other api-versions than the defaults", () => {
  it("serves a machine from its creation to its deletion", async () => {
    const { arm, driver } = await aCloud({ apiVersions: everyDefault, vmMs: 20, partMs: 20, deleteMs: 20 });
    const dataDisks = [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/data" } }];
    const imageReference = { urn: "kinvolk:flatcar:stable:4081.2.0" };
    const request = aRequest(aMachine("m"), {
      properties: { storageProfile: { ...plainProperties.storageProfile, imageReference, dataDisks } },
    });
    await driver.createMachine(request, aContext());
    await driver.getMachineStatus(request, aContext());
    await driver.listMachines?.(request, aContext());
    await driver.findDrift?.(request, aContext());
    await driver.getNodeTemplate?.(request, aContext());
    await driver.deleteMachine(request, aContext());
    expect(arm.inventory()).toEqual({ vms: [], nics: [], disks: [] });
    expect(arm.log.requests.filter(({ end }) => end === 400)).toEqual([]);
  });
});

describe("a cloud without the api-version of the driver", () => {
  it.each([["InvalidResourceType", 404] as const])("is not taken for one without the VM (%s)", async (code, status) => {
    const { arm, driver } = await aCloud(olderVms);
    const request = aRequest(aMachine("m"));
    const failure = await failureOf(driver.getMachineStatus(request, aContext()));
    expect(arm.log.requests.at(-1)?.end).toBe(status);
    expect(failure).toMatchObject({
      code: "InvalidArgument",
      message: `looking for the VM: this cloud does not have api-version 2023-07-01 of Microsoft.Compute/virtualMachines; set providerSpec.cloudConfiguration.apiVersions["Microsoft.Compute/virtualMachines"] of the class, or option "apiVersions" of the driver, to "2023-03-01" (${code})`,
    });
    await expect(driver.deleteMachine(request, aContext())).rejects.toMatchObject({ code: "InvalidArgument" });
  });

  it("is named in the failure of a creation, too (NoRegisteredProviderFound)", async () => {
    const { arm, driver } = await aCloud({
      apiVersions: { "Microsoft.Network/networkInterfaces": ["2022-05-01"] },
    });
    arm.faults.add({ operation: "NetworkInterfaces_List", end: { kind: "reply", reply: emptyList } });
    const failure = await failureOf(driver.createMachine(aRequest(aMachine("m")), aContext()));
    expect(failure).toMatchObject({
      code: "InvalidArgument",
      message: expect.stringMatching(
        /NIC "m-nic".*api-version 2023-05-01 of Microsoft\.Network\/networkInterfaces; .*to "2022-05-01" \(NoRegisteredProviderFound\)/,
      ),
    });
  });

  it("works with the one that the class names", async () => {
    const { arm, driver } = await aCloud(olderVms);
    const request = aRequest(aMachine("m"), cloudConfiguration({ "microsoft.compute/virtualmachines": "2023-03-01" }));
    await driver.createMachine(request, aContext());
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
    await driver.deleteMachine(request, aContext());
  });

  it("works with the one that the driver is created with", async () => {
    const { arm, driver } = await aCloud(olderVms, {
      apiVersions: { "Microsoft.Compute/virtualMachines": "2022-11-01" },
    });
    await driver.createMachine(aRequest(aMachine("m")), aContext());
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
  });

  it("makes no other VM of a class whose api-versions have changed", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), cloudConfiguration({})), aContext());
    const changed = cloudConfiguration({ "Microsoft.Compute": "2023-09-01" });
    await driver.createMachine(aRequest(aMachine("m"), changed), aContext());
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(1);
  });
});

const emptyList = { status: 200, headers: { "content-type": "application/json" }, body: '{"value":[]}' };

it("leaves the text of Azure for a location that does not exist", async () => {
  const { arm, driver } = await aCloud();
  const message =
    "No registered resource provider found for location 'mars' and API version '2023-07-01' for type 'virtualMachines'. The supported api-versions are '2023-03-01, 2023-07-01'. The supported locations are 'westeurope'.";
  const refusal = { code: "NoRegisteredProviderFound", message };
  arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", end: { kind: "refuse", refusal } });
  const failure = await failureOf(driver.createMachine(aRequest(aMachine("m")), aContext()));
  expect(failure).toMatchObject({ code: "InvalidArgument", message: expect.stringContaining("location 'mars'") });
});

it("takes a 404 without a code for the answer of a proxy, not for a VM that is gone", async () => {
  const { arm, driver } = await aCloud();
  const reply = { status: 404, headers: { "content-type": "text/html" }, body: "<html>Not Found</html>" };
  arm.faults.add({ operation: "VirtualMachines_Get", end: { kind: "reply", reply } });
  const failure = await failureOf(driver.getMachineStatus(aRequest(aMachine("m")), aContext()));
  expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining("with status 404") });
});
