import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { aNic, anArm, idOf, send, subscription } from "./testing/sdk-clients.ts";

describe("NICs and disks", () => {
  it("cannot be deleted while a VM uses them, nor created without a subnet or a free address", async () => {
    const { compute, network, putVm, putNic } = await anArm({ subnets: { "shoot/vnet/nodes": { addresses: 1 } } });
    await putVm("m");
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({ code: "NicInUse" });
    await expect(compute.disks.delete("shoot", "m-os-disk")).rejects.toMatchObject({ code: "OperationNotAllowed" });
    await expect(putNic("other")).rejects.toMatchObject({ code: "SubnetIsFull" });
    await compute.disks.delete("shoot", "none");
    await network.networkInterfaces.delete("shoot", "none");
  });

  it("are created separately, listed and deleted", async () => {
    const { emulator, compute, network, putNic } = await anArm({ partMs: 5 });
    await putNic("nic");
    await compute.disks.createOrUpdate("shoot", "disk", {
      location: "westeurope",
      sku: { name: "Premium_LRS" },
      osType: "Linux",
      diskSizeGB: 5,
      creationData: { createOption: "FromImage", imageReference: { id: "/image" } },
    });
    const names: (string | undefined)[] = [];
    for await (const { name } of compute.disks.listByResourceGroup("shoot")) names.push(name);
    for await (const { name } of network.networkInterfaces.list("shoot")) names.push(name);
    expect(names).toEqual(["disk", "nic"]);
    await compute.disks.delete("shoot", "disk", { updateIntervalInMs: 5 });
    await network.networkInterfaces.delete("shoot", "nic", { updateIntervalInMs: 5 });
    expect(emulator.inventory()).toEqual({ vms: [], nics: [], disks: [] });
  });
});

describe("answers", () => {
  it("have the IDs of their requests, also in errors", async () => {
    const { emulator, url } = await anArm();
    const get = (name: string) =>
      send(emulator.ca, "GET", `${url}${idOf("Microsoft.Compute/virtualMachines", name)}?api-version=1`);
    emulator.faults.add({ operation: "VirtualMachines_Get", end: { kind: "refuse", refusal: { code: "Conflict" } } });
    const list = `${url}${idOf("Microsoft.Compute", "virtualMachines")}?api-version=1`;
    const answers = [await get("m"), await get("m"), await send(emulator.ca, "GET", list)];
    expect(answers.map(({ status }) => status)).toEqual([409, 404, 200]);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        "x-ms-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
        "x-ms-correlation-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    }
  });

  it("have the URLs of operations as in Azure, also of disks and networks", async () => {
    const { emulator, compute, network, putVm } = await anArm({ partMs: 1 });
    await putVm("m");
    await compute.virtualMachines.delete("shoot", "m", { updateIntervalInMs: 5 });
    await compute.disks.createOrUpdate(
      "shoot",
      "disk",
      { location: "westeurope", creationData: { createOption: "Empty" } },
      { updateIntervalInMs: 5 },
    );
    await network.networkInterfaces.createOrUpdate("shoot", "nic", aNic(), { updateIntervalInMs: 5 });
    const polled = emulator.log.requests
      .filter(({ operation }) => operation === "Operations_Get")
      .map(({ path }) => /providers\/([^?]+)\/[^/?]+\?/.exec(path)?.[1]);
    expect(new Set(polled)).toEqual(
      new Set([
        "Microsoft.Compute/locations/westeurope/operations",
        "Microsoft.Compute/locations/westeurope/DiskOperations",
        "Microsoft.Network/locations/westeurope/operations",
      ]),
    );
  });

  it("to the deletion of a NIC have the URLs of its operation and result", async () => {
    const { emulator, url, putNic } = await anArm({ partMs: 60_000, clock: createVirtualClock() });
    const making = putNic("nic").catch(() => undefined);
    await expect.poll(() => emulator.inventory().nics.length).toBe(1);
    const path = `${idOf("Microsoft.Network/networkInterfaces", "nic")}?api-version=1`;
    const { headers } = await send(emulator.ca, "DELETE", `${url}${path}`);
    expect(headers["azure-asyncoperation"]).toMatch(/Microsoft\.Network\/locations\/westeurope\/operations\//);
    expect(headers.location).toMatch(/Microsoft\.Network\/locations\/westeurope\/operationResults\//);
    expect((await send(emulator.ca, "GET", headers.location ?? "")).status).toBe(202);
    await emulator.close();
    await making;
  });
});

describe("permissions", () => {
  it("are checked by type and verb, and for linked resources", async () => {
    const actions = ["Microsoft.Network/networkInterfaces/write", "Microsoft.Network/locations/operations/read"];
    const { emulator, compute, putNic } = await anArm({ actions });
    await expect(putNic("nic")).rejects.toMatchObject({ code: "LinkedAuthorizationFailed", statusCode: 403 });
    await expect(compute.virtualMachines.get("shoot", "m")).rejects.toMatchObject({
      code: "AuthorizationFailed",
      statusCode: 403,
      message: expect.stringContaining("Microsoft.Compute/virtualMachines/read"),
    });
    expect([...emulator.world.askedActions]).toEqual([
      "Microsoft.Network/networkInterfaces/write",
      "Microsoft.Network/virtualNetworks/subnets/join/action",
      "Microsoft.Compute/virtualMachines/read",
    ]);
  });
});

describe("the marketplace and the catalog", () => {
  it("require that the terms of a plan are accepted", async () => {
    const { compute, marketplace } = await anArm();
    const { plan } = await compute.virtualMachineImages.get("westeurope", "kinvolk", "flatcar", "stable", "4081.2.0");
    expect(plan).toEqual({ publisher: "kinvolk", name: "stable", product: "flatcar" });
    const terms = await marketplace.marketplaceAgreements.get("virtualmachine", "kinvolk", "flatcar", "stable");
    expect(terms.accepted).toBe(false);
    await marketplace.marketplaceAgreements.create("virtualmachine", "kinvolk", "flatcar", "stable", {
      ...terms,
      accepted: true,
    });
    await expect(
      marketplace.marketplaceAgreements.get("virtualmachine", "kinvolk", "flatcar", "stable"),
    ).resolves.toMatchObject({ accepted: true });
    await expect(compute.virtualMachineImages.get("westeurope", "a", "b", "c", "d")).rejects.toMatchObject({
      statusCode: 404,
    });
    await expect(marketplace.marketplaceAgreements.get("virtualmachine", "a", "b", "c")).rejects.toMatchObject({
      statusCode: 400,
    });
  });

  it("list the sizes of a location, and subnets", async () => {
    const { compute, network } = await anArm();
    const sizes: (string | undefined)[] = [];
    for await (const { name } of compute.resourceSkus.list({ filter: "location eq 'westeurope'" })) sizes.push(name);
    expect(sizes).toContain("Standard_D2s_v5");
    await expect(network.subnets.get("shoot", "vnet", "nodes")).resolves.toMatchObject({ name: "nodes" });
    await expect(network.subnets.get("shoot", "vnet", "none")).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe("tokens", () => {
  const applications = { client: { tenant: "tenant", secret: "good", subscriptions: [subscription] } };

  it("are issued to applications, and are required", async () => {
    const { emulator, putNic } = await anArm({ applications });
    await putNic("nic");
    expect(emulator.log.count("Token")).toBe(1);
    expect(emulator.log.requests.at(-1)?.account).toBe("client");
    emulator.world.tokens.clear();
    await expect(putNic("nic")).rejects.toMatchObject({ statusCode: 401 });
  });

  it("are not issued without the secret", async () => {
    const { putNic } = await anArm({ applications }, "bad");
    await expect(putNic("nic")).rejects.toThrow(/AADSTS7000215/);
  });

  it("are valid only for the subscriptions of their application", async () => {
    const { emulator, putNic } = await anArm({ applications });
    emulator.world.applications?.set("client", { tenant: "tenant", secret: "good", subscriptions: [] });
    await expect(putNic("nic")).rejects.toMatchObject({ statusCode: 403, code: "AuthorizationFailed" });
  });
});

describe("api-versions", () => {
  it("that are not supported are rejected with the supported ones", async () => {
    const apiVersions = { "Microsoft.Compute/virtualMachines": ["2022-11-01", "2023-03-01"] };
    const { emulator, url } = await anArm({ apiVersions });
    const at = (name: string, version: string) =>
      `${url}${idOf("Microsoft.Compute/virtualMachines", name)}?api-version=${version}`;
    const missing = await send(emulator.ca, "GET", at("m", "2023-07-01"));
    expect([missing.status, missing.body]).toEqual([
      404,
      {
        error: {
          code: "InvalidResourceType",
          message:
            "The resource type 'virtualMachines' could not be found in the namespace 'Microsoft.Compute' for api version '2023-07-01'. The supported api-versions are '2022-11-01,2023-03-01'.",
        },
      },
    ]);
    const put = await send(emulator.ca, "PUT", at("m", "2023-07-01"), { location: "westeurope" });
    expect([put.status, put.body]).toEqual([
      400,
      {
        error: {
          code: "NoRegisteredProviderFound",
          message:
            "No registered resource provider found for location 'westeurope' and API version '2023-07-01' for type 'virtualMachines'. The supported api-versions are '2022-11-01, 2023-03-01'. The supported locations are 'westeurope'.",
        },
      },
    ]);
    const known = await send(emulator.ca, "GET", at("m", "2023-03-01"));
    expect(known.body).toMatchObject({ error: { code: "ResourceNotFound" } });
  });
});
