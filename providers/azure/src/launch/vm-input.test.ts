import { Secret } from "@millwright/core";
import { refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, nothing, plainSpec, sentBody } from "../testing/azure-cloud.ts";
import { ownerTagKeys } from "../vm/owner-tags.ts";

const identity =
  "/subscriptions/sub-1/resourceGroups/shoot/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i";

describe("the requests that make a VM", () => {
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
        adminUsername: "fedora",
        linuxConfiguration: {
          disablePasswordAuthentication: true,
          ssh: { publicKeys: { path: "/keys", keyData: "ssh-ed25519 AAAA" } },
        },
      },
      networkProfile: { acceleratedNetworking: true },
      zone: 2,
      identityID: identity,
      diagnosticsProfile: { enabled: true, storageURI: "https://storage" },
      securityProfile: {
        securityType: "ConfidentialVM",
        uefiSettings: { vtpmEnabled: true, secureBootEnabled: false },
      },
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
      identity: { type: "UserAssigned", userAssignedIdentities: { [identity]: {} } },
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
          adminUsername: "fedora",
          linuxConfiguration: {
            disablePasswordAuthentication: true,
            ssh: { publicKeys: [{ path: "/keys", keyData: "ssh-ed25519 AAAA" }] },
          },
        },
        diagnosticsProfile: { bootDiagnostics: { enabled: true, storageUri: "https://storage" } },
        securityProfile: {
          securityType: "ConfidentialVM",
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

  it("uses a key without a private key, if the class has none", async () => {
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

  const { machineUid, machine, specHash } = ownerTagKeys;
  it.each<[number, readonly string[]]>([
    [43, Object.values(ownerTagKeys)],
    [47, [machineUid, machine, specHash]],
    [49, [machineUid]],
    [50, []],
  ])(
    "leaves out the least needed of the driver's tags where the class has %i, and knows what it made",
    async (count, left) => {
      const { arm, driver } = await aCloud();
      const more = Object.fromEntries(Array.from({ length: count - 2 }, (_, at) => [`t${at}`, "1"]));
      const tags = { ...plainSpec.tags, ...more };
      const request = aRequest(aMachine("m"), { spec: { tags } });
      arm.faults.add({ operation: "VirtualMachines_CreateOrUpdate", end: refuse("InvalidParameter") });
      await expect(driver.createMachine(request, aContext())).rejects.toMatchObject({ code: "InvalidArgument" });
      const { providerId } = await driver.createMachine(request, aContext());
      const { vms, nics, disks } = arm.inventory();
      expect([vms.length, nics.length, disks.length]).toEqual([1, 1, 1]);
      for (const { tags: given } of [...vms, ...nics, ...disks]) {
        const own = Object.keys(given).filter((key) => !(key in tags));
        expect(own.toSorted()).toEqual(left.toSorted());
      }
      expect(await driver.createMachine(request, aContext())).toMatchObject({ providerId });
      expect(await driver.getMachineStatus(request, aContext())).toMatchObject({ providerId });
      await driver.deleteMachine(request, aContext());
      expect(arm.inventory()).toEqual(nothing);
    },
  );

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
});
