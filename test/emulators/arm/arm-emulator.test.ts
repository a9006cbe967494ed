import { ComputeManagementClient, type VirtualMachine } from "@azure/arm-compute";
import { MarketplaceOrderingAgreements } from "@azure/arm-marketplaceordering";
import { type NetworkInterface, NetworkManagementClient } from "@azure/arm-network";
import { ClientSecretCredential } from "@azure/identity";
import { createVirtualClock } from "@millwright/core/testing";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { afterEach, describe, expect, it } from "vitest";
import { type ArmEmulator, type ArmEmulatorOptions, createArmEmulator } from "./index.ts";

const emulators: ArmEmulator[] = [];
afterEach(async () => {
  for (const emulator of emulators.splice(0)) {
    await emulator.close();
    if (emulator.failures.length > 0) throw new Error("the emulator failed", { cause: emulator.failures[0] });
  }
});

const subscription = "sub-1";

/** The unmodified SDKs, and a cloud for them. */
async function anArm(options: ArmEmulatorOptions = {}, secret = "good") {
  const emulator = createArmEmulator(options);
  emulators.push(emulator);
  const { url } = await emulator.listen();
  const tlsOptions = { ca: emulator.ca };
  const credential = new ClientSecretCredential("tenant", "client", secret, {
    authorityHost: url,
    disableInstanceDiscovery: true,
    tlsOptions,
  });
  const clientOptions = { endpoint: url, tlsOptions, retryOptions: { maxRetries: 0 } };
  const compute = new ComputeManagementClient(credential, subscription, clientOptions);
  const network = new NetworkManagementClient(credential, subscription, clientOptions);
  const marketplace = new MarketplaceOrderingAgreements(credential, subscription, clientOptions);
  const putNic = (name: string) =>
    network.networkInterfaces.createOrUpdate("shoot", name, aNic(), { updateIntervalInMs: 5 });
  const putVm = async (name: string, change: Partial<VirtualMachine> = {}, more: object = {}) => {
    await putNic(`${name}-nic`);
    return compute.virtualMachines.createOrUpdate(
      "shoot",
      name,
      { ...aVm(name), ...change },
      { updateIntervalInMs: 5, ...more },
    );
  };
  return { emulator, url, compute, network, marketplace, putNic, putVm };
}

const idOf = (type: string, name: string): string =>
  `/subscriptions/${subscription}/resourceGroups/shoot/providers/${type}/${name}`;

const aNic = (): NetworkInterface => ({
  location: "westeurope",
  enableIPForwarding: true,
  nicType: "Standard",
  ipConfigurations: [
    {
      name: "ip",
      privateIPAllocationMethod: "Dynamic",
      subnet: { id: idOf("Microsoft.Network/virtualNetworks", "vnet/subnets/nodes") },
    },
  ],
});

const aVm = (name: string): VirtualMachine => ({
  location: "westeurope",
  tags: { "kubernetes.io-cluster-shoot": "1" },
  zones: ["1"],
  hardwareProfile: { vmSize: "Standard_D2s_v5" },
  storageProfile: {
    imageReference: { publisher: "canonical", offer: "ubuntu", sku: "24_04", version: "latest" },
    osDisk: { name: `${name}-os-disk`, createOption: "FromImage", diskSizeGB: 30, deleteOption: "Delete" },
    dataDisks: [{ lun: 0, name: `${name}-0-data-disk`, createOption: "Empty", diskSizeGB: 5, deleteOption: "Delete" }],
  },
  osProfile: { computerName: name, adminUsername: "core", customData: "aGVsbG8=", linuxConfiguration: {} },
  networkProfile: {
    networkInterfaces: [
      { id: idOf("Microsoft.Network/networkInterfaces", `${name}-nic`), primary: true, deleteOption: "Delete" },
    ],
  },
});

/** A request as it is, without what the SDKs make of the answer. */
const send = (
  ca: string,
  method: string,
  url: string,
  body?: object,
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: unknown }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer any", "content-type": "application/json" };
    const sent = request(url, { method, agent: new Agent({ ca }), headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text === "" ? undefined : JSON.parse(text),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

describe("virtual machines", () => {
  it("are made, shown and deleted with what belongs to them", async () => {
    const { emulator, compute, putVm } = await anArm({ vmMs: 20, deleteMs: 20, partMs: 10 });
    const made = await putVm("m");
    expect(made).toMatchObject({ name: "m", provisioningState: "Succeeded", zones: ["1"] });
    expect(made.osProfile?.customData).toBeUndefined();
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.map(({ code }) => code)).toEqual([
      "ProvisioningState/succeeded",
      "PowerState/running",
    ]);
    expect(emulator.inventory()).toMatchObject({ vms: [{ name: "m" }], nics: [{ vmId: made.id }] });
    expect(emulator.inventory().disks.map(({ name }) => name)).toEqual(["m-os-disk", "m-0-data-disk"]);
    await compute.virtualMachines.delete("shoot", "m", { updateIntervalInMs: 5 });
    expect(emulator.inventory()).toEqual({ vms: [], nics: [], disks: [] });
    await compute.virtualMachines.delete("shoot", "m");
    await expect(compute.virtualMachines.get("shoot", "m")).rejects.toMatchObject({
      code: "ResourceNotFound",
      statusCode: 404,
    });
  });

  it("keep NICs and disks that are not theirs to delete, until they are told otherwise", async () => {
    const { emulator, compute, putVm } = await anArm();
    const nicId = idOf("Microsoft.Network/networkInterfaces", "m-nic");
    await putVm("m", { networkProfile: { networkInterfaces: [{ id: nicId, primary: true }] } });
    await putVm("n", {
      networkProfile: { networkInterfaces: [{ id: nicId.replace("m-nic", "n-nic"), primary: true }] },
    });
    await compute.virtualMachines.update("shoot", "n", {
      networkProfile: { networkInterfaces: [{ id: nicId.replace("m-nic", "n-nic"), deleteOption: "Delete" }] },
    });
    await compute.virtualMachines.delete("shoot", "m");
    await compute.virtualMachines.delete("shoot", "n");
    expect(emulator.inventory()).toMatchObject({ vms: [], nics: [{ name: "m-nic" }], disks: [] });
  });

  it("are the same after the same PUT, and never another one", async () => {
    const { emulator, putVm } = await anArm();
    const [first, second] = [await putVm("m"), await putVm("m")];
    expect(first.vmId).toBe(second.vmId);
    await expect(
      putVm("m", { osProfile: { computerName: "m", adminUsername: "other", linuxConfiguration: {} } }),
    ).rejects.toMatchObject({
      code: "PropertyChangeNotAllowed",
    });
    await expect(putVm("m", {}, { ifNoneMatch: "*" })).rejects.toMatchObject({ statusCode: 412 });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it.each<[string, Partial<VirtualMachine>, string, number]>([
    ["an unknown size", { hardwareProfile: { vmSize: "Standard_X" } }, "InvalidParameter", 400],
    [
      "a size that the zone has not",
      { hardwareProfile: { vmSize: "Standard_D2ps_v5" }, zones: ["3"] },
      "SkuNotAvailable",
      409,
    ],
    ["an unknown location", { location: "nowhere" }, "LocationNotAvailableForResourceType", 400],
    [
      "an unknown image",
      { storageProfile: { imageReference: { id: "/missing" }, osDisk: { name: "d", createOption: "FromImage" } } },
      "NotFound",
      404,
    ],
    [
      "an image without its plan",
      {
        storageProfile: {
          imageReference: { publisher: "kinvolk", offer: "flatcar", sku: "stable", version: "4081.2.0" },
          osDisk: { name: "d", createOption: "FromImage" },
        },
      },
      "VMMarketplaceInvalidInput",
      400,
    ],
    ["something that nobody looks at", { licenseType: "RHEL_BYOS" }, "InvalidParameter", 400],
  ])("are refused with %s", async (_, change, code, statusCode) => {
    const { putVm } = await anArm();
    await expect(putVm("m", change)).rejects.toMatchObject({ code, statusCode });
  });

  it("fail for lack of capacity: they stay as failed ones, and their NIC is kept for them", async () => {
    const { emulator, compute, network, putVm } = await anArm({ vmMs: 5 });
    emulator.world.capacity.set("Standard_D2s_v5/1", 0);
    await expect(putVm("m")).rejects.toThrow(/ZonalAllocationFailed/);
    await expect(compute.virtualMachines.get("shoot", "m")).resolves.toMatchObject({ provisioningState: "Failed" });
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({ code: "NicInUse" });
    await compute.virtualMachines.delete("shoot", "m");
    expect(emulator.inventory()).toEqual({ vms: [], nics: [], disks: [] });
  });

  it("are refused at once where the cloud knows at once that there is no room", async () => {
    const { emulator, network, putVm } = await anArm({ refusesCapacityAtOnce: true, coreLimit: 2 });
    emulator.world.capacity.set("Standard_D2s_v5", 0);
    await expect(putVm("m")).rejects.toMatchObject({ code: "ZonalAllocationFailed", statusCode: 409 });
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({
      code: "NicReservedForAnotherVm",
    });
    emulator.world.capacity.clear();
    await putVm("m");
    await expect(putVm("n")).rejects.toMatchObject({
      code: "OperationNotAllowed",
      message: expect.stringContaining("quota"),
    });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it("are listed page by page", async () => {
    const { emulator, compute, putVm } = await anArm({ pageSize: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) await putVm(name);
    const names: (string | undefined)[] = [];
    for await (const { name } of compute.virtualMachines.list("shoot")) names.push(name);
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
    expect(emulator.log.count("VirtualMachines_List")).toBe(3);
    await expect(compute.virtualMachines.list("nowhere").next()).rejects.toMatchObject({
      code: "ResourceGroupNotFound",
    });
  });

  it("are known by their names in any case of letters", async () => {
    const { compute, putVm } = await anArm();
    await putVm("m");
    await expect(compute.virtualMachines.get("SHOOT", "M")).resolves.toMatchObject({ name: "m" });
  });

  it("are cancelled by whoever cannot wait: they stay and never come up", async () => {
    const { emulator, compute, putVm } = await anArm({ clock: createVirtualClock(), vmMs: 60_000 });
    const making = putVm("m").catch((error: unknown) => String(error));
    await expect.poll(() => emulator.inventory().vms.length).toBe(1);
    emulator.cancel("m");
    expect(await making).toContain("canceled");
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.map(({ code }) => code)).toEqual(["ProvisioningState/failed/Canceled"]);
  });

  it("are deallocated or deleted when Azure takes them back", async () => {
    const { emulator, compute, putVm } = await anArm();
    await putVm("m", { priority: "Spot", evictionPolicy: "Deallocate" });
    await putVm("n", { priority: "Spot", evictionPolicy: "Delete" });
    emulator.evict("m");
    emulator.evict("n");
    const { instanceView } = await compute.virtualMachines.get("shoot", "m", { expand: "instanceView" });
    expect(instanceView?.statuses?.at(-1)?.code).toBe("PowerState/deallocated");
    await expect(compute.disks.get("shoot", "m-os-disk")).resolves.toMatchObject({ diskState: "Reserved" });
    expect(emulator.inventory().vms).toHaveLength(1);
  });

  it("take the time of the clock", async () => {
    const clock = createVirtualClock();
    const { emulator, compute, putVm } = await anArm({ clock, vmMs: 60_000 });
    const poller = putVm("m");
    // An answer of the cloud that nobody waits for yet.
    poller.catch(() => undefined);
    await expect.poll(() => emulator.log.count("Operations_Get")).toBeGreaterThan(1);
    await expect(compute.virtualMachines.get("shoot", "m")).resolves.toMatchObject({ provisioningState: "Creating" });
    await clock.advance(60_000);
    await expect(poller).resolves.toMatchObject({ provisioningState: "Succeeded" });
  });
});

describe("NICs and disks", () => {
  it("cannot be deleted while a VM has them, and not made where there is no subnet or no address", async () => {
    const { compute, network, putVm, putNic } = await anArm({ subnets: { "shoot/vnet/nodes": { addresses: 1 } } });
    await putVm("m");
    await expect(network.networkInterfaces.delete("shoot", "m-nic")).rejects.toMatchObject({ code: "NicInUse" });
    await expect(compute.disks.delete("shoot", "m-os-disk")).rejects.toMatchObject({ code: "OperationNotAllowed" });
    await expect(putNic("other")).rejects.toMatchObject({ code: "SubnetIsFull" });
    await compute.disks.delete("shoot", "none");
    await network.networkInterfaces.delete("shoot", "none");
  });

  it("are made on their own, listed and deleted", async () => {
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
  it("have the ids of their requests, also when they refuse", async () => {
    const { emulator, compute, putNic } = await anArm();
    const ids = { "x-ms-request-id": expect.any(String), "x-ms-correlation-request-id": expect.any(String) };
    const seen: unknown[] = [];
    const onResponse = ({ headers }: { readonly headers: { toJSON(): object } }): void =>
      void seen.push(headers.toJSON());
    await putNic("nic");
    await compute.disks.delete("shoot", "none", { onResponse });
    await compute.virtualMachines.get("shoot", "none", { onResponse }).catch(() => undefined);
    emulator.faults.add({ operation: "Disks_Delete", end: { kind: "refuse", refusal: { code: "Conflict" } } });
    await compute.disks.delete("shoot", "none", { onResponse }).catch(() => undefined);
    expect(seen).toEqual(seen.map((): unknown => expect.objectContaining(ids)));
    expect(seen.length).toBeGreaterThanOrEqual(2);
  });

  it("lead to operations where Azure has them: those of disks and of networks by themselves", async () => {
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

  it("to who deletes a NIC lead to its operation and to its result", async () => {
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
  it("are asked for by type and verb, and for what a resource names", async () => {
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

describe("the marketplace and the catalogue", () => {
  it("ask that the terms of a plan are accepted", async () => {
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

  it("know the sizes of a location, and subnets", async () => {
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

  it("are given to applications, and are needed", async () => {
    const { emulator, putNic } = await anArm({ applications });
    await putNic("nic");
    expect(emulator.log.count("Token")).toBe(1);
    expect(emulator.log.requests.at(-1)?.account).toBe("client");
    emulator.world.tokens.clear();
    await expect(putNic("nic")).rejects.toMatchObject({ statusCode: 401 });
  });

  it("are refused to who does not know the secret", async () => {
    const { putNic } = await anArm({ applications }, "bad");
    await expect(putNic("nic")).rejects.toThrow(/AADSTS7000215/);
  });

  it("are only good for the subscriptions of their application", async () => {
    const { emulator, putNic } = await anArm({ applications });
    emulator.world.applications?.set("client", { tenant: "tenant", secret: "good", subscriptions: [] });
    await expect(putNic("nic")).rejects.toMatchObject({ statusCode: 403, code: "AuthorizationFailed" });
  });
});

describe("Resource Graph", () => {
  /** The query that MCM's driver sends. */
  const query = `Resources
    | where type =~ 'microsoft.compute/virtualMachines' or type =~ 'microsoft.network/networkinterfaces'
    | where resourceGroup =~ 'shoot'
    | extend tagKeys = bag_keys(tags)
    | where tagKeys has 'kubernetes.io-cluster-shoot'
    | project type, name`;

  const ask = (url: string, ca: string, body: object) =>
    send(ca, "POST", `${url}/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01`, body);

  it("finds by words of tag keys, page by page, and late", async () => {
    const clock = createVirtualClock();
    const { emulator, url, putVm } = await anArm({ clock, graphLagMs: 1_000, pageSize: 1 });
    await putVm("m");
    await putVm("n", { tags: { "kubernetes.io-cluster-shoot-2": "1" } });
    const rows = async (skip = "0") =>
      (await ask(url, emulator.ca, { subscriptions: [subscription], query, options: { $skipToken: skip } })).body;
    expect(await rows()).toMatchObject({ totalRecords: 0, data: [] });
    await clock.advance(1_000);
    // `has` means whole words: the other cluster is found too.
    expect(await rows()).toMatchObject({
      totalRecords: 2,
      data: [{ name: "m" }],
      $skipToken: "1",
      resultTruncated: "false",
    });
    expect(await rows("1")).toMatchObject({ data: [{ name: "n" }] });
    expect(await ask(url, emulator.ca, { subscriptions: [subscription], query: "Resources" })).toMatchObject({
      status: 400,
    });
  });
});
