import { Secret } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { ownerTagKeys } from "./owner-tags.ts";
import { aCloud, aContext, aMachine, aRequest, plainProperties, plainSpec, sentBody } from "./testing/azure-cloud.ts";

const { storageProfile } = plainProperties;
const nothing = { vms: [], nics: [], disks: [] };

describe("creating a machine", () => {
  it("makes one VM with the names of MCM, and the tags of its owner on everything from the first moment", async () => {
    const { arm, driver } = await aCloud({ vmMs: 20, partMs: 10 });
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toEqual({
      providerId: "azure:///westeurope/m",
      nodeName: "m",
    });
    const { vms, nics, disks } = arm.inventory();
    expect([vms, nics, disks].map((found) => found.map(({ name }) => name))).toEqual([["m"], ["m-nic"], ["m-os-disk"]]);
    const owner = {
      "kubernetes.io-cluster-shoot": "1",
      "kubernetes.io-role-node": "1",
      [ownerTagKeys.managedBy]: "millwright",
      [ownerTagKeys.namespace]: "shoot",
      [ownerTagKeys.machine]: "m",
      [ownerTagKeys.machineUid]: "uid-of-m",
      [ownerTagKeys.machineClass]: "pool",
      [ownerTagKeys.token]: "token-of-uid-of-m",
    };
    for (const { tags } of [...vms, ...nics, ...disks]) expect(tags).toMatchObject(owner);
  });

  it("sends nothing that a plain class does not ask for", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    expect(sentBody(arm, "NetworkInterfaces_CreateOrUpdate")).toEqual({
      location: "westeurope",
      tags: expect.any(Object),
      properties: {
        enableIPForwarding: true,
        nicType: "Standard",
        ipConfigurations: [
          {
            name: "m-nic",
            properties: {
              privateIPAllocationMethod: "Dynamic",
              subnet: {
                id: "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes",
              },
            },
          },
        ],
      },
    });
    expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toEqual({
      location: "westeurope",
      tags: expect.any(Object),
      zones: ["1"],
      properties: {
        hardwareProfile: { vmSize: "Standard_D2s_v5" },
        storageProfile: {
          imageReference: { id: "/subscriptions/sub-1/image" },
          osDisk: {
            name: "m-os-disk",
            createOption: "FromImage",
            diskSizeGB: 30,
            deleteOption: "Delete",
            managedDisk: {},
          },
          dataDisks: [],
        },
        osProfile: {
          adminUsername: "core",
          computerName: "m",
          customData: Buffer.from("#!/bin/sh\necho hello").toString("base64"),
          linuxConfiguration: {
            disablePasswordAuthentication: false,
            ssh: { publicKeys: [{ path: "/home/core/.ssh/authorized_keys", keyData: "ssh-rsa AAAA" }] },
          },
        },
        networkProfile: {
          networkInterfaces: [
            {
              id: "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.Network/networkInterfaces/m-nic",
              properties: { primary: true, deleteOption: "Delete" },
            },
          ],
        },
      },
    });
    const put = arm.log.requests.find(({ operation }) => operation === "VirtualMachines_CreateOrUpdate");
    expect(put?.headers["if-none-match"]).toBe("*");
  });

  it("sends every optional field of the class", async () => {
    const { arm, driver } = await aCloud();
    const group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/r";
    const properties = {
      hardwareProfile: { vmSize: "Standard_D4s_v5" },
      storageProfile: {
        imageReference: { communityGalleryImageID: "/CommunityGalleries/c" },
        diskControllerType: "NVMe",
        osDisk: {
          createOption: "FromImage",
          diskSizeGB: 50,
          caching: "ReadWrite",
          managedDisk: {
            storageAccountType: "Premium_LRS",
            securityProfile: { securityEncryptionType: "VMGuestStateOnly" },
          },
        },
        dataDisks: [
          { lun: 0, diskSizeGB: 10, storageAccountType: "Standard_LRS", caching: "ReadOnly" },
          { lun: 2, name: "etcd", diskSizeGB: 20, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } },
          {
            lun: 3,
            diskSizeGB: 5,
            storageAccountType: "Premium_LRS",
            imageRef: { sharedGalleryImageID: "/SharedGalleries/s" },
          },
          {
            lun: 4,
            diskSizeGB: 5,
            storageAccountType: "Premium_LRS",
            imageRef: { urn: "canonical:ubuntu:24_04:latest" },
          },
        ],
      },
      osProfile: {
        adminUsername: "admin",
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: { publicKeys: { path: "/keys", keyData: "ssh-ed25519 AAAA" } },
        },
      },
      networkProfile: { acceleratedNetworking: true },
      zone: 2,
      identityID: "/identities/i",
      diagnosticsProfile: { enabled: true, storageURI: "https://storage" },
      securityProfile: { securityType: "TrustedLaunch", uefiSettings: { vtpmEnabled: true, secureBootEnabled: false } },
      capacityReservation: { capacityReservationGroupID: group },
      priority: "Spot",
      billingProfile: { maxPrice: 0.5 },
    };
    const spec = { subnetInfo: { vnetName: "shared", subnetName: "nodes", vnetResourceGroup: "net" } };
    await driver.createMachine(aRequest(aMachine("m"), { spec, properties }), aContext());
    expect(sentBody(arm, "NetworkInterfaces_CreateOrUpdate")).toMatchObject({
      properties: {
        enableAcceleratedNetworking: true,
        ipConfigurations: [
          {
            properties: {
              subnet: {
                id: "/subscriptions/sub-1/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/shared/subnets/nodes",
              },
            },
          },
        ],
      },
    });
    const disks = arm.log.requests
      .filter(({ operation }) => operation === "Disks_CreateOrUpdate")
      .map(({ body, path }): unknown[] => [/disks\/([^?]+)/.exec(path)?.[1], JSON.parse(body)]);
    expect(disks).toMatchObject([
      [
        "m-etcd-2-data-disk",
        {
          zones: ["2"],
          sku: { name: "Premium_LRS" },
          properties: {
            osType: "Linux",
            diskSizeGB: 20,
            creationData: { createOption: "FromImage", imageReference: { id: "/images/data" } },
          },
        },
      ],
      [
        "m-3-data-disk",
        { properties: { creationData: { galleryImageReference: { sharedGalleryImageId: "/SharedGalleries/s" } } } },
      ],
      [
        "m-4-data-disk",
        {
          properties: {
            creationData: {
              imageReference: { id: expect.stringMatching(/Publishers\/canonical\/.*Versions\/latest$/) },
            },
          },
        },
      ],
    ]);
    expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toMatchObject({
      zones: ["2"],
      identity: { type: "UserAssigned", userAssignedIdentities: { "/identities/i": {} } },
      properties: {
        hardwareProfile: { vmSize: "Standard_D4s_v5" },
        storageProfile: {
          imageReference: { communityGalleryImageId: "/CommunityGalleries/c" },
          diskControllerType: "NVMe",
          osDisk: {
            caching: "ReadWrite",
            managedDisk: {
              storageAccountType: "Premium_LRS",
              securityProfile: { securityEncryptionType: "VMGuestStateOnly" },
            },
          },
          dataDisks: [
            {
              lun: 0,
              name: "m-0-data-disk",
              createOption: "Empty",
              caching: "ReadOnly",
              diskSizeGB: 10,
              deleteOption: "Delete",
              managedDisk: { storageAccountType: "Standard_LRS" },
            },
            {
              lun: 2,
              name: "m-etcd-2-data-disk",
              createOption: "Attach",
              caching: "None",
              managedDisk: { id: expect.stringMatching(/disks\/m-etcd-2-data-disk$/) },
            },
            { lun: 3, createOption: "Attach" },
            { lun: 4, createOption: "Attach" },
          ],
        },
        osProfile: {
          adminUsername: "admin",
          linuxConfiguration: {
            disablePasswordAuthentication: true,
            ssh: { publicKeys: [{ path: "/keys", keyData: "ssh-ed25519 AAAA" }] },
          },
        },
        diagnosticsProfile: { bootDiagnostics: { enabled: true, storageUri: "https://storage" } },
        securityProfile: {
          securityType: "TrustedLaunch",
          uefiSettings: { secureBootEnabled: false, vTpmEnabled: true },
        },
        capacityReservation: { capacityReservationGroup: { id: group } },
        priority: "Spot",
        evictionPolicy: "Deallocate",
        billingProfile: { maxPrice: 0.5 },
      },
    });
    expect(arm.inventory().disks).toHaveLength(5);
  });

  it.each<[string, object, object]>([
    ["an availability set", { availabilitySet: { id: "/set" } }, { availabilitySet: { id: "/set" } }],
    ["a scale set", { virtualMachineScaleSet: { id: "/vmss" } }, { virtualMachineScaleSet: { id: "/vmss" } }],
    [
      "the deprecated machineSet for a set",
      { machineSet: { id: "/set", Kind: "availabilityset" } },
      { availabilitySet: { id: "/set" } },
    ],
    [
      "the deprecated machineSet for a scale set",
      { machineSet: { id: "/vmss", kind: "vmo" } },
      { virtualMachineScaleSet: { id: "/vmss" } },
    ],
  ])("places the VM in %s", async (_, placement, expected) => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(aMachine("m"), { properties: { zone: null, ...placement } }), aContext());
    const body = sentBody(arm, "VirtualMachines_CreateOrUpdate");
    expect(body).toMatchObject({ properties: expected });
    expect(body).not.toHaveProperty("zones");
  });

  it("makes up a key that nobody has, where the class has none", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(
      aRequest(aMachine("m"), { properties: { osProfile: { adminUsername: "core" } } }),
      aContext(),
    );
    const key: unknown = expect.stringMatching(/^ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB[A-Za-z0-9+/=]{690,}$/);
    expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toMatchObject({
      properties: { osProfile: { linuxConfiguration: { ssh: { publicKeys: [{ keyData: key }] } } } },
    });
  });

  it("does not let the class overwrite the owner's tags, in any case of letters", async () => {
    const { arm, driver } = await aCloud();
    const tags = { ...plainSpec.tags, [ownerTagKeys.machineUid.toUpperCase()]: "evil" };
    await driver.createMachine(aRequest(aMachine("m"), { spec: { tags } }), aContext());
    expect(Object.values(arm.vm("m").tags)).not.toContain("evil");
    expect(arm.vm("m").tags[ownerTagKeys.machineUid]).toBe("uid-of-m");
  });

  it("delivers user data byte by byte, up to the limit of Azure, and refuses more before it asks", async () => {
    const { arm, driver } = await aCloud();
    const bytes = Uint8Array.from({ length: 65_535 }, (_, index) => index % 256);
    await driver.createMachine({ ...aRequest(), userData: Secret.of(bytes) }, aContext());
    const sent = arm.vm("m").body.properties.osProfile.customData ?? "";
    expect(Buffer.from(sent, "base64")).toEqual(Buffer.from(bytes));
    const userData = Secret.of(new Uint8Array(65_536));
    await expect(driver.createMachine({ ...aRequest(aMachine("n")), userData }, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("65536 bytes"),
    });
    expect(arm.inventory().nics).toHaveLength(1);
  });

  it.each([["a".repeat(65)], ["under_score"], ["-m"]])("refuses a machine that Azure cannot name: %s", async (name) => {
    const { arm, driver } = await aCloud();
    await expect(driver.createMachine(aRequest(aMachine(name)), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
    });
    expect(arm.log.count()).toBe(0);
  });

  it("says the same id to the same request, and makes one VM of twenty equal requests at once", async () => {
    const { arm, driver } = await aCloud({ vmMs: 30 });
    const made = await Promise.all(Array.from({ length: 20 }, () => driver.createMachine(aRequest(), aContext())));
    expect(new Set(made.map(({ providerId }) => providerId))).toEqual(new Set(["azure:///westeurope/m"]));
    await driver.createMachine(aRequest(), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
    expect(arm.inventory().nics).toHaveLength(1);
  });

  it("leaves a VM alone that was made from another spec, for an earlier machine, or by somebody else", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    const before = arm.vm("m").vmId;
    const refused = { code: "AlreadyExists" };
    const other = { properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } } };
    await expect(driver.createMachine(aRequest(aMachine("m"), other), aContext())).rejects.toMatchObject(refused);
    await expect(driver.createMachine(aRequest(aMachine("m", { uid: "new" })), aContext())).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("earlier machine"),
    });
    arm.vm("m").tags = { owner: "somebody" };
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("somebody else"),
    });
    expect(arm.vm("m").vmId).toBe(before);
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(1);
  });

  it("takes a VM that MCM made: it does not say from what", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.vm("m").tags = { ...plainSpec.tags };
    await expect(driver.createMachine(aRequest(), aContext())).resolves.toMatchObject({ nodeName: "m" });
  });

  it("leaves a NIC of somebody else alone", async () => {
    const { arm, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    arm.world.vms.clear();
    const [nic] = arm.inventory().nics;
    if (nic !== undefined) nic.tags = {};
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "AlreadyExists",
      message: expect.stringContaining('NIC "m-nic" of somebody else'),
    });
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(1);
  });

  it.each(["NetworkInterfaces_CreateOrUpdate", "VirtualMachines_CreateOrUpdate", "Operations_Get"])(
    "makes one VM although answers of %s were lost",
    async (operation) => {
      for (const end of [
        { kind: "reset" },
        { kind: "truncate" },
        { kind: "reply", reply: { status: 502, body: "<html>" } },
      ] as const) {
        const { arm, driver } = await aCloud({ vmMs: 10 });
        arm.faults.add({ operation, end, afterAcceptance: true, times: 3 });
        const outcome: unknown = await driver.createMachine(aRequest(), aContext()).catch((error: unknown) => error);
        // The SDK repeats by itself what it may; whatever it makes of it, the next call finds the one VM.
        expect(outcome instanceof Error ? Reflect.get(outcome, "code") : "Unavailable").toMatch(/Unavailable|Aborted/);
        arm.faults.clear();
        await driver.createMachine({ ...aRequest(), userData: Secret.of("another token") }, aContext());
        expect(arm.inventory()).toMatchObject({ vms: [{ name: "m" }], nics: [{ name: "m-nic" }] });
        expect(arm.inventory().disks).toHaveLength(1);
      }
    },
  );

  it("goes on where a try that was stopped left off, and waits for the VM that it began", async () => {
    const { arm, driver } = await aCloud({ vmMs: 300 });
    const stop = new AbortController();
    const first = driver.createMachine(aRequest(), aContext(stop.signal));
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    stop.abort(new Error("stopped"));
    await expect(first).rejects.toMatchObject({ code: "Aborted" });
    await driver.createMachine(aRequest(), aContext());
    expect(arm.vm("m").provisioningState).toBe("Succeeded");
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(1);
  });
});

describe("the marketplace", () => {
  const image = (more: object = {}) => ({
    properties: {
      storageProfile: { ...storageProfile, imageReference: { urn: "kinvolk:flatcar:stable:4081.2.0", ...more } },
    },
  });

  it("gets the terms of a plan accepted, once, and the plan goes with the VM", async () => {
    const { arm, driver } = await aCloud();
    await Promise.all(
      ["m", "n", "o"].map((name) => driver.createMachine(aRequest(aMachine(name), image()), aContext())),
    );
    expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toMatchObject({
      plan: { name: "stable", product: "flatcar", publisher: "kinvolk" },
      properties: {
        storageProfile: {
          imageReference: { publisher: "kinvolk", offer: "flatcar", sku: "stable", version: "4081.2.0" },
        },
      },
    });
    const counts = ["VirtualMachineImages_Get", "MarketplaceAgreements_Get", "MarketplaceAgreements_Create"];
    expect(counts.map((operation) => arm.log.count(operation))).toEqual([1, 1, 1]);
  });

  it("is not asked where the class says so, or the image has no plan", async () => {
    const { arm, driver } = await aCloud();
    const skip = aRequest(aMachine("m"), image({ skipMarketplaceAgreement: true }));
    await expect(driver.createMachine(skip, aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("VMMarketplaceInvalidInput"),
    });
    expect(arm.log.count("VirtualMachineImages_Get")).toBe(0);
    await driver.createMachine(aRequest(aMachine("n"), image({ urn: "canonical:ubuntu:24_04:latest" })), aContext());
    expect(arm.log.count("MarketplaceAgreements_Get")).toBe(0);
  });

  it("does not know an image: nothing is made", async () => {
    const { arm, driver } = await aCloud();
    await expect(
      driver.createMachine(aRequest(aMachine("m"), image({ urn: "a:b:c:d" })), aContext()),
    ).rejects.toMatchObject({ code: "InvalidArgument", message: expect.stringContaining('no image "a:b:c:d"') });
    expect(arm.inventory()).toEqual(nothing);
  });

  it.each(["VirtualMachineImages_Get", "MarketplaceAgreements_Get", "MarketplaceAgreements_Create"])(
    "fails at %s: nothing is made",
    async (operation) => {
      const { arm, driver } = await aCloud();
      arm.faults.add({ operation, times: 9, end: { kind: "refuse", refusal: { code: "InternalServerError" } } });
      await expect(driver.createMachine(aRequest(aMachine("m"), image()), aContext())).rejects.toMatchObject({
        code: "Unavailable",
      });
      expect(arm.inventory()).toEqual(nothing);
    },
  );
});

describe("a lack of capacity", () => {
  const withDisk = {
    storageProfile: {
      ...storageProfile,
      dataDisks: [{ lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS", imageRef: { id: "/images/data" } }],
    },
  };

  it.each([
    ["told at once", true],
    ["told at the end", false],
  ])("is ResourceExhausted and leaves nothing behind: %s", async (_, refusesCapacityAtOnce) => {
    const { arm, driver } = await aCloud({ refusesCapacityAtOnce, vmMs: 10, deleteMs: 10 });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    await expect(
      driver.createMachine(aRequest(aMachine("m"), { properties: withDisk }), aContext()),
    ).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/^making Standard_D2s_v5 in zone 1 \(westeurope\): .*\(ZonalAllocationFailed\)$/),
    });
    expect(arm.inventory()).toEqual(nothing);
  });

  it("is told with what could not be cleaned up, which the deletion of the machine does then", async () => {
    const { arm, driver } = await aCloud();
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    arm.faults.add({
      operation: "VirtualMachines_Delete",
      times: 9,
      end: { kind: "refuse", refusal: { code: "InternalServerError", message: "not now" } },
    });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/ZonalAllocationFailed.*not now/),
    });
    arm.faults.clear();
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" });
    await driver.deleteMachine(aRequest(), aContext());
    expect(arm.inventory()).toEqual(nothing);
  });

  it("of a try that did not live to see it is cleaned up by the next one", async () => {
    const { arm, driver } = await aCloud({ vmMs: 200 });
    arm.world.capacity.set("Standard_D2s_v5/1", 0);
    const stop = new AbortController();
    const first = driver.createMachine(aRequest(), aContext(stop.signal));
    await expect.poll(() => arm.inventory().vms.length).toBe(1);
    stop.abort(new Error("killed"));
    await expect(first).rejects.toMatchObject({ code: "Aborted" });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      tokenIsSpent: true,
    });
    expect(arm.inventory()).toEqual(nothing);
    arm.world.capacity.clear();
    await driver.createMachine(aRequest(), aContext());
    expect(arm.vm("m").power).toBe("running");
  });

  it("leads to the next size and zone of the class, whose disks are made where the VM is", async () => {
    const { arm, driver } = await aCloud({ vmMs: 5 });
    arm.world.capacity.set("Standard_D2s_v5", 0);
    arm.world.capacity.set("Standard_D4s_v5/1", 0);
    const fallbacks = [{ zone: 2 }, { vmSize: "Standard_D4s_v5" }, { vmSize: "Standard_D4s_v5", zone: 3 }];
    const change = { spec: { fallbacks, properties: { ...plainProperties, ...withDisk } } };
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.vm("m").body).toMatchObject({
      zones: ["3"],
      properties: { hardwareProfile: { vmSize: "Standard_D4s_v5" } },
    });
    expect(arm.inventory().disks.map(({ zones }) => zones)).toEqual([["3"], ["3"]]);
    expect(arm.log.count("VirtualMachines_CreateOrUpdate")).toBe(4);
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it("that leaves no VM leaves the NIC for the next candidate: Azure may keep it for that VM", async () => {
    const { arm, driver } = await aCloud({ refusesCapacityAtOnce: true });
    arm.world.capacity.set("Standard_D2s_v5", 0);
    const change = { spec: { fallbacks: [{ zone: 2 }, { vmSize: "Standard_D4s_v5" }] } };
    await driver.createMachine(aRequest(aMachine("m"), change), aContext());
    expect(arm.vm("m").body.properties.hardwareProfile.vmSize).toBe("Standard_D4s_v5");
    expect(arm.log.count("NetworkInterfaces_CreateOrUpdate")).toBe(1);
    expect(arm.log.count("NetworkInterfaces_Delete")).toBe(0);
  });

  it("of all of them is told with all of them", async () => {
    const { arm, driver } = await aCloud({ coreLimit: 1 });
    const change = { spec: { fallbacks: [{ vmSize: "Standard_D4s_v5" }] } };
    await expect(driver.createMachine(aRequest(aMachine("m"), change), aContext())).rejects.toMatchObject({
      code: "ResourceExhausted",
      message: expect.stringMatching(/Standard_D2s_v5.*quota.*Standard_D4s_v5.*quota/),
    });
    expect(arm.inventory()).toEqual(nothing);
  });

  it("makes way for a spot VM that was reclaimed before its machine came up", async () => {
    const { arm, driver } = await aCloud();
    const spot = aRequest(aMachine("m"), { properties: { priority: "Spot" } });
    await driver.createMachine(spot, aContext());
    const before = arm.vm("m").vmId;
    arm.evict("m");
    await driver.createMachine(spot, aContext());
    expect(arm.vm("m").vmId).not.toBe(before);
    expect(arm.inventory().disks).toHaveLength(1);
  });
});
