import { secretProblems, specProblems } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, sentBody } from "../testing/azure-cloud.ts";

const group = "/subscriptions/sub-1/resourceGroups/shoot/providers";

const storageProfile = {
  imageReference: { urn: "canonical:ubuntu:24_04:latest" },
  osDisk: {
    caching: "None",
    createOption: "FromImage",
    diskSizeGB: 50,
    managedDisk: { storageAccountType: "Standard_LRS" },
  },
};

/** `properties` of kubernetes/machine-class.yaml in gardener/machine-controller-manager-provider-azure. */
const properties = {
  hardwareProfile: { vmSize: "Standard_D2s_v5" },
  networkProfile: { networkInterfaces: {}, acceleratedNetworking: true },
  osProfile: {
    adminUsername: "core",
    customData: "ignored",
    computerName: "ignored",
    linuxConfiguration: {
      disablePasswordAuthentication: true,
      ssh: { publicKeys: { keyData: "ssh-rsa AAAA", path: "/home/core/.ssh/authorized_keys" } },
    },
  },
  storageProfile,
  zone: 2,
  identityID: `${group}/Microsoft.ManagedIdentity/userAssignedIdentities/nodes`,
  diagnosticsProfile: { enabled: false },
};

const example = (change: object = {}) => ({
  location: "westeurope",
  properties: { ...properties, ...change },
  resourceGroup: "shoot",
  subnetInfo: { subnetName: "nodes", vnetName: "vnet" },
  tags: {
    Name: "pool",
    "kubernetes.io-cluster-shoot": "1",
    "kubernetes.io-role-node": "1",
    "node.kubernetes.io_role": "node",
    "worker.garden.sapcloud.io_group": "pool",
    "worker.gardener.cloud_pool": "pool",
    "worker.gardener.cloud_system-components": "true",
  },
});

const availabilitySet = { id: `${group}/Microsoft.Compute/availabilitySets/set` };
const scaleSet = { id: `${group}/Microsoft.Compute/virtualMachineScaleSets/set`, Kind: "vmo" };

it.each([
  ["", {}],
  [", with an availability set", { zone: undefined, availabilitySet }],
  [", with a scale set", { zone: undefined, machineSet: scaleSet }],
  [
    ", with an image of a community gallery",
    {
      storageProfile: {
        ...storageProfile,
        imageReference: { communityGalleryImageID: "/CommunityGalleries/g/Images/i/Versions/1.0.0" },
      },
    },
  ],
  [
    ", with an image of a shared gallery",
    {
      storageProfile: {
        ...storageProfile,
        imageReference: { sharedGalleryImageID: "/SharedGalleries/g/Images/i/Versions/1.0.0" },
      },
    },
  ],
  [
    ", with data disks",
    {
      storageProfile: {
        ...storageProfile,
        dataDisks: [{ name: "data", lun: 0, caching: "None", storageAccountType: "Standard_LRS", diskSizeGB: 10 }],
      },
    },
  ],
  [
    ", with boot diagnostics",
    { diagnosticsProfile: { enabled: true, storageURI: "https://s.blob.core.windows.net/" } },
  ],
])("accepts the published class%s", async (_, change) => {
  expect(await specProblems(createAzureDriver(), example(change))).toEqual([]);
});

// MCM's driver refuses it too: `validateAvailabilityAndScalingConfig` in pkg/azure/api/validation/validation.go.
it("refuses to have the zone and both kinds of sets that the published class shows at once", async () => {
  const change = { availabilitySet, machineSet: { ...availabilitySet, Kind: "availabilityset" } };
  expect(await specProblems(createAzureDriver(), example(change))).toEqual([
    "providerSpec.properties: must have exactly one of zone, availabilitySet and virtualMachineScaleSet",
  ]);
});

it("makes a VM of the published class", async () => {
  const { driver, arm } = await aCloud();
  await driver.createMachine(aRequest(aMachine("m"), example()), aContext());
  expect(sentBody(arm, "VirtualMachines_CreateOrUpdate")).toMatchObject({
    zones: ["2"],
    identity: { type: "UserAssigned" },
    properties: { osProfile: { computerName: "m", adminUsername: "core" } },
  });
  expect(sentBody(arm, "NetworkInterfaces_CreateOrUpdate")).toMatchObject({
    properties: { enableAcceleratedNetworking: true },
  });
});

it.each([
  ["", ["azureClientId", "azureClientSecret", "azureSubscriptionId", "azureTenantId"]],
  [" with the other names", ["clientID", "clientSecret", "subscriptionID", "tenantID"]],
])("accepts the published secret%s", async (_, keys) => {
  const secret = Object.fromEntries(["userData", ...keys].map((key) => [key, "value"]));
  expect(await secretProblems(createAzureDriver(), secret)).toEqual([]);
});
