import { expect, it } from "vitest";
import { serviceOf } from "./api-call.ts";

const group = "https://arm.example/subscriptions/s/resourceGroups/g/providers";
const locations = "https://arm.example/subscriptions/s/providers";

// What else there is comes by in driver.test.ts, with requests that are made.
it.each([
  ["DELETE", `${group}/Microsoft.Network/networkInterfaces/m-nic?api-version=1`, "nic_delete"],
  ["DELETE", `${group}/Microsoft.Compute/disks/m-os-disk?api-version=1`, "disk_delete"],
  ["GET", `${locations}/Microsoft.Compute/locations/l/operations/o?p=1`, "operation_get"],
  ["GET", `${locations}/Microsoft.Compute/locations/l/DiskOperations/o?p=1`, "operation_get"],
  ["GET", `${locations}/Microsoft.Network/locations/l/operationResults/o`, "operation_get"],
  ["POST", `${group}/Microsoft.Compute/virtualMachines/m/restart`, "other"],
  ["PATCH", `${group}/Microsoft.Compute/disks/d`, "other"],
])("%s %s is counted as %s", (method, url, service) => {
  expect(serviceOf(method, url)).toBe(service);
});
