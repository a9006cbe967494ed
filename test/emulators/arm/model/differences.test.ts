import { describe, expect, it } from "vitest";
import { modelDifferences } from "./differences.ts";
import { exceptions } from "./exceptions.ts";

const group = "/subscriptions/s/resourceGroups/g";
const vmPath = `${group}/providers/Microsoft.Compute/virtualMachines`;

/** Differences of a request, and of its response if it has one. */
function differencesOf(
  [method, operation, path]: readonly [string, string, string],
  { request = "", answer, status = 200 }: { request?: unknown; answer?: unknown; status?: number } = {},
  allowed = exceptions,
): readonly string[] {
  const body = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const url = new URL(`https://emulator.invalid${path}${path.includes("?") ? "" : "?api-version=2023-07-01"}`);
  const { signal } = new AbortController();
  return modelDifferences(
    {
      operation,
      request: { method, url, headers: {}, body: body(request), signal },
      reply: answer === undefined ? undefined : { status, body: body(answer) },
    },
    allowed,
  );
}

const getVm = ["GET", "VirtualMachines_Get", `${vmPath}/m`] as const;
const putVm = ["PUT", "VirtualMachines_CreateOrUpdate", `${vmPath}/m`] as const;
const listVms = ["GET", "VirtualMachines_List", vmPath] as const;
const vm = (properties: object, more: object = {}): object => ({ location: "westeurope", properties, ...more });

describe("addresses", () => {
  it.each([
    getVm,
    listVms,
    ["GET", "VirtualMachines_Get", `${vmPath.toLowerCase()}/m?api-version=1&$expand=instanceView`] as const,
    ["DELETE", "Disks_Delete", `${group}/providers/Microsoft.Compute/disks/d`] as const,
    ["GET", "NetworkInterfaces_List", `${group}/providers/Microsoft.Network/networkInterfaces`] as const,
    ["GET", "ResourceSkus_List", "/subscriptions/s/providers/Microsoft.Compute/skus?api-version=1&$filter=a"] as const,
  ])("that the SDK sends to are good: %s %s", (...request) => {
    expect(differencesOf(request)).toEqual([]);
  });

  it.each([
    [["GET", "VirtualMachines_Get", `${group}/virtualMachines/m`], "address GET "],
    [["POST", "VirtualMachines_Get", `${vmPath}/m`], "address POST "],
    [["GET", "VirtualMachines_Get", `${vmPath}/m?api-version=1&expand=a`], "parameter expand is not in the model"],
    [["GET", "VirtualMachines_Get", `${vmPath}/m?$expand=a`], "parameter api-version is required"],
    [["GET", "VirtualMachines_Explode", `${vmPath}/m`], "nothing is known of the operation VirtualMachines_Explode"],
  ] as const)("differ: %s", (request, expected) => {
    expect(differencesOf(request)).toEqual([expect.stringContaining(expected)]);
  });
});

describe("bodies", () => {
  it("in the model are accepted", () => {
    const answer = vm(
      {
        priority: "spot",
        timeCreated: "2026-01-01T00:00:00Z",
        storageProfile: {
          dataDisks: [
            { lun: 0, createOption: "Empty", managedDisk: { id: `${group}/providers/Microsoft.Compute/disks/d` } },
          ],
        },
      },
      { tags: { a: "b" }, zones: ["1"], identity: null },
    );
    expect(differencesOf(getVm, { answer })).toEqual([]);
    expect(differencesOf(listVms, { answer: { value: [answer], nextLink: "https://emulator.invalid/" } })).toEqual([]);
  });

  it.each<[string, object, string]>([
    ["an unknown field", vm({}, { color: "red" }), "color is not in the model"],
    [
      "one inside",
      vm({ storageProfile: { osDisk: { createOption: "Empty", color: 1 } } }),
      "properties.storageProfile.osDisk.color is not in the model",
    ],
    [
      "one in a list",
      vm({ storageProfile: { dataDisks: [{ lun: 0, createOption: "Empty", size: 1 }] } }),
      "properties.storageProfile.dataDisks[0].size is not in the model",
    ],
    ["a field at the wrong level", vm({}, { priority: "Spot" }), "priority is not in the model"],
    ["a missing field", { properties: {} }, "location is required"],
    [
      "one that is missing inside",
      vm({ storageProfile: { dataDisks: [{ lun: 0 }] } }),
      "storageProfile.dataDisks[0].createOption is required",
    ],
    ["a number for a text", vm({ licenseType: 1 }), "licenseType must be a string, is 1"],
    [
      "a text for a boolean",
      vm({ storageProfile: { osDisk: { createOption: "Empty", writeAcceleratorEnabled: "yes" } } }),
      'storageProfile.osDisk.writeAcceleratorEnabled must be a boolean, is "yes"',
    ],
    ["an object for a list", vm({ storageProfile: { dataDisks: {} } }), "cannot be read by the SDK"],
    [
      "a value that is not in its enum",
      vm({ priority: "Cheap" }),
      'priority is not a value of VirtualMachinePriorityTypes: "Cheap"',
    ],
    ["an ID that is not a resource ID", vm({ host: { id: "host-1" } }), 'host.id is not a resource ID: "host-1"'],
  ])("differ by %s, in requests and answers", (_, body, expected) => {
    const found = [differencesOf(putVm, { request: body }), differencesOf(getVm, { answer: body })];
    expect(found.map((differences) => differences.map((text) => text.replace(/^(request|answer) /, "")))).toEqual([
      [expect.stringContaining(expected)],
      [expect.stringContaining(expected)],
    ]);
  });

  it("of errors have a code and a message", () => {
    expect(differencesOf(getVm, { status: 404, answer: { error: { code: "a", message: "b" } } })).toEqual([]);
    expect(differencesOf(getVm, { status: 404, answer: { code: "a" } })).toHaveLength(2);
  });
});

it("allows the table of exceptions, and needs each row", () => {
  const examples = [
    () => [putVm, { request: vm({ hardwareProfile: { vmSize: "Standard_D99s_v9" } }) }] as const,
    () => [["GET", "VirtualMachines_List", `${vmPath}?api-version=1&$skiptoken=2`], {}] as const,
    () => [putVm, { request: vm({ availabilitySet: { id: "/set" } }) }] as const,
  ];
  expect(exceptions).toHaveLength(examples.length);
  for (const [index, example] of examples.entries()) {
    const [request, bodies] = example();
    expect(differencesOf(request, bodies)).toEqual([]);
    expect(
      differencesOf(
        request,
        bodies,
        exceptions.filter((_, row) => row !== index),
      ),
    ).toHaveLength(1);
  }
});
