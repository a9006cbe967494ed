import type { ApiCall } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainProperties } from "./testing/azure-cloud.ts";

describe("the driver", () => {
  it("has nothing to do to a VM that was made", async () => {
    const { driver } = await aCloud();
    expect(driver.initializeMachine).toBeUndefined();
  });

  it("reports every request, for metrics, and no secret with it", async () => {
    const calls: ApiCall[] = [];
    const context = { ...aContext(), reportApiCall: (call: ApiCall) => void calls.push(call) };
    const { arm, driver } = await aCloud({ vmMs: 1 });
    const dataDisks = [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/data" } }];
    const imageReference = { urn: "kinvolk:flatcar:stable:4081.2.0" };
    const properties = { storageProfile: { ...plainProperties.storageProfile, imageReference, dataDisks } };
    const request = aRequest(aMachine("m"), { properties });
    await driver.createMachine(request, context);
    await driver.listMachines?.(request, context);
    await driver.getNodeTemplate?.(request, context);
    arm.vm("m").nics.splice(0, 1, { nicId: arm.vm("m").nics[0]?.nicId ?? "", deleteOption: "Detach" });
    arm.vm("m").provisioningState = "Succeeded";
    await driver.deleteMachine(request, context);
    arm.faults.add({
      operation: "VirtualMachines_Get",
      end: { kind: "refuse", refusal: { code: "AuthorizationFailed" } },
    });
    await expect(driver.getMachineStatus(request, context)).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(new Set(calls.map(({ service }) => service))).toEqual(
      new Set([
        "token_get",
        "virtual_machine_get",
        "virtual_machine_image_get",
        "market_place_agreement_get",
        "market_place_agreement_create",
        "nic_list",
        "nic_create",
        "nic_get",
        "operation_get",
        "disk_create",
        "disk_get",
        "disk_list",
        "virtual_machine_create",
        "virtual_machine_list",
        "virtual_machine_sizes_list",
        "virtual_machine_update",
        "virtual_machine_delete",
      ]),
    );
    expect(calls.at(-1)).toMatchObject({ service: "virtual_machine_get", outcome: "403" });
    expect(calls.every(({ seconds }) => seconds >= 0)).toBe(true);
    expect(calls).toHaveLength(arm.log.requests.length);
    expect(JSON.stringify(calls)).not.toContain("secret");
  });
});
