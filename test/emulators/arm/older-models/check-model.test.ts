import { describe, expect, it, onTestFinished } from "vitest";
import { createArmEmulator } from "../arm-emulator.ts";
import { idOf, send } from "../testing/sdk-clients.ts";
import { differencesFromModel } from "./check-model.ts";

describe("the published model of an api-version", () => {
  it("has the fields of a request by their path on the wire", () => {
    const body = {
      location: "westeurope",
      zones: ["1"],
      identity: { type: "UserAssigned", userAssignedIdentities: { "/identity": {} } },
      properties: { storageProfile: { diskControllerType: "NVMe", dataDisks: [{ lun: 0, createOption: "Empty" }] } },
    };
    expect(differencesFromModel("Microsoft.Compute", "VirtualMachine", body, "client")).toEqual([]);
  });

  it.each<[string, object, string]>([
    ["a field of a later version", { placement: {} }, "placement is not in the published model VirtualMachine"],
    [
      "a field in a list that a later version has",
      { properties: { storageProfile: { dataDisks: [{ lun: 0, createOption: "Empty", sourceResource: {} }] } } },
      "properties.storageProfile.dataDisks[].sourceResource is not in the published model VirtualMachine",
    ],
    [
      "a value of a later version",
      { properties: { securityProfile: { securityType: "Standard" } } },
      "properties.securityProfile.securityType must be one of TrustedLaunch, ConfidentialVM",
    ],
    ["another type", { zones: "1" }, "zones must be a list"],
    ["another type in a map", { tags: { a: 1 } }, "tags{} must be a string"],
    ["what only Azure sets", { properties: { vmId: "id" } }, "properties.vmId can only be set by Azure"],
  ])("shows %s in a request", (_, body, difference) => {
    expect(differencesFromModel("Microsoft.Compute", "VirtualMachine", body, "client")).toEqual([difference]);
  });

  it("is compared only with the requests of its api-version", async () => {
    const emulator = createArmEmulator();
    onTestFinished(() => emulator.close());
    const { url } = await emulator.listen();
    const at = (version: string) => `${url}${idOf("Microsoft.Compute/disks", "d")}?api-version=${version}`;
    const later = {
      location: "westeurope",
      properties: { creationData: { createOption: "Empty" }, availabilityPolicy: {} },
    };
    await send(emulator.ca, "PUT", at("2026-03-02"), later);
    expect(emulator.failures).toEqual([]);
    await send(emulator.ca, "PUT", at("2023-04-02"), later);
    expect(emulator.failures.map(String)).toEqual([
      "Error: Disks_CreateOrUpdate: client: properties.availabilityPolicy is not in the published model Disk",
    ]);
    const known = { location: "westeurope", properties: { creationData: { createOption: "Empty" } } };
    await send(emulator.ca, "PUT", at("2023-04-02"), known);
    expect(emulator.failures).toHaveLength(1);
  });
});
