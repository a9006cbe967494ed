import { specProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { plainProperties, plainSpec } from "../testing/azure-cloud.ts";
import { azureSpecSchema } from "./spec.ts";

const { storageProfile } = plainProperties;
const disk = { lun: 0, diskSizeGB: 5, storageAccountType: "Premium_LRS" };
const without = (key: string) => Object.fromEntries(Object.entries(plainSpec).filter(([name]) => name !== key));
const properties = (change: object) => ({ properties: { ...plainProperties, ...change } });
const storage = (change: object) => properties({ storageProfile: { ...storageProfile, ...change } });
const image = (imageReference: object) => storage({ imageReference });
const osDisk = (change: object) => storage({ osDisk: { ...storageProfile.osDisk, ...change } });
const dataDisks = (...disks: readonly object[]) => storage({ dataDisks: disks });

const user = (change: object) => properties({ osProfile: { ...plainProperties.osProfile, ...change } });
const key = (keyData: string) => user({ linuxConfiguration: { ssh: { publicKeys: { keyData } } } });
const group = "/subscriptions/sub-1/resourceGroups/shoot/providers";

const manyTags = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, "1"]));

const problemsOf = (providerSpec: unknown) => specProblems(createAzureDriver(), providerSpec);

describe("providerSpec", () => {
  it("is good with what is required, and gets its defaults once and for all", () => {
    const read = azureSpecSchema.parse(plainSpec);
    expect(read).toMatchObject({
      fallbacks: [],
      properties: {
        priority: "Regular",
        networkProfile: {},
        storageProfile: { dataDisks: [], imageReference: { skipMarketplaceAgreement: false } },
        osProfile: { linuxConfiguration: { disablePasswordAuthentication: false } },
      },
    });
    expect(azureSpecSchema.parse(read)).toEqual(read);
  });

  it("is read as Go reads it: keys in any case, null is absent, unknown keys are ignored", () => {
    const { location, properties: given, ...rest } = plainSpec;
    const { hardwareProfile, osProfile, storageProfile: disks, ...more } = given;
    const spelled = {
      ...rest,
      Location: location,
      CloudConfiguration: null,
      kind: "AzureProviderSpec",
      PROPERTIES: {
        ...more,
        HardwareProfile: { VMSize: hardwareProfile.vmSize },
        storageProfile: { ...disks, osDisk: { ...disks.osDisk, name: "ignored", managedDisk: { id: "ignored" } } },
        osProfile: { ...osProfile, computerName: "ignored", adminPassword: "ignored", customData: { later: true } },
        availabilitySet: null,
        networkProfile: { networkInterfaces: [{}] },
      },
    };
    const plain = storage({ osDisk: { ...disks.osDisk, managedDisk: {} } });
    expect(azureSpecSchema.parse(spelled)).toEqual(azureSpecSchema.parse({ ...plainSpec, ...plain }));
  });

  it.each(["location", "resourceGroup", "subnetInfo", "tags", "properties"])("needs %s", async (field) => {
    expect(await problemsOf(without(field))).toEqual([expect.stringMatching(new RegExp(`^providerSpec\\.${field}: `))]);
  });

  const at = "providerSpec\\.properties\\.";
  const set = { availabilitySet: { id: "/set" } };
  const vmo = { id: "/vmss", kind: "vmo" };
  it.each<[string, object, string]>([
    ["a blank location", { location: " " }, "providerSpec\\.location: "],
    ["a location that is a path", { location: "a/b" }, "providerSpec\\.location: must be a location"],
    ["a location that is a number", { location: 5 }, "providerSpec\\.location: "],
    ["a blank group", { resourceGroup: " " }, "providerSpec\\.resourceGroup: must not be blank"],
    ["no network", { subnetInfo: { subnetName: "a" } }, "providerSpec\\.subnetInfo\\.vnetName: "],
    ["no subnet", { subnetInfo: { vnetName: "a" } }, "providerSpec\\.subnetInfo\\.subnetName: "],
    ["no cluster tag", { tags: { "kubernetes.io-role-node": "1" } }, "providerSpec\\.tags: .*kubernetes\\.io-cluster-"],
    ["no role tag", { tags: { "kubernetes.io-cluster-a": "1" } }, "providerSpec\\.tags: .*kubernetes\\.io-role-"],
    [
      "more tags than Azure takes",
      {
        tags: {
          ...plainSpec.tags,
          ...manyTags(49),
        },
      },
      "providerSpec\\.tags: must be at most 50",
    ],
    [
      "a tag with a slash",
      { tags: { ...plainSpec.tags, "a/b": "1" } },
      "providerSpec\\.tags.*must have a name without",
    ],
    ["a tag that is no text", { tags: { ...plainSpec.tags, a: 1 } }, "providerSpec\\.tags\\.a: "],
    [
      "an unknown cloud",
      { cloudConfiguration: { name: "Azure" } },
      "providerSpec\\.cloudConfiguration\\.name: must be one of AzurePublic, AzureChina, AzureGovernment",
    ],
    [
      "an api-version of a type that the driver does not request",
      { cloudConfiguration: { apiVersions: { "Microsoft.Compute/images": "2023-07-01" } } },
      "providerSpec\\.cloudConfiguration\\.apiVersions.*must be one of Microsoft\\.Compute, ",
    ],
    [
      "an api-version that is none",
      { cloudConfiguration: { apiVersions: { "Microsoft.Compute": "newest" } } },
      "providerSpec\\.cloudConfiguration\\.apiVersions.*must be an API version, for example 2023-07-01",
    ],
    ["no size", properties({ hardwareProfile: {} }), `${at}hardwareProfile\\.vmSize: `],
    ["no image", image({}), `${at}storageProfile\\.imageReference: must have exactly one`],
    ["two images", image({ id: "/a", urn: "a:b:c:d" }), `${at}storageProfile\\.imageReference: must have exactly one`],
    ["an urn with three parts", image({ urn: "a:b:c" }), `${at}storageProfile\\.imageReference\\.urn: must look like`],
    [
      "an urn with a blank part",
      image({ urn: "a: :c:d" }),
      `${at}storageProfile\\.imageReference\\.urn: must look like`,
    ],
    [
      "an urn with five parts",
      image({ urn: "a:b:c:d:e" }),
      `${at}storageProfile\\.imageReference\\.urn: must look like`,
    ],
    ["an unknown controller", storage({ diskControllerType: "IDE" }), `${at}storageProfile\\.diskControllerType: `],
    ["a disk without an option", osDisk({ createOption: undefined }), `${at}storageProfile\\.osDisk\\.createOption: `],
    ["a disk of size 0", osDisk({ diskSizeGB: 0 }), `${at}storageProfile\\.osDisk\\.diskSizeGB: must be at least 1`],
    ["a disk of a negative size", osDisk({ diskSizeGB: -1 }), `${at}storageProfile\\.osDisk\\.diskSizeGB: `],
    ["an unknown cache", osDisk({ caching: "Some" }), `${at}storageProfile\\.osDisk\\.caching: must be "None"`],
    [
      "an unknown encryption",
      osDisk({ managedDisk: { securityProfile: { securityEncryptionType: "x" } } }),
      `${at}storageProfile\\.osDisk\\.managedDisk\\.securityProfile\\.securityEncryptionType: `,
    ],
    ["a negative LUN", dataDisks({ ...disk, lun: -1 }), `dataDisks\\[0\\]\\.lun: `],
    ["a LUN twice", dataDisks(disk, disk), `dataDisks\\[1\\]\\.lun: must be unique, 0 occurs twice`],
    [
      "a data disk of size 0",
      dataDisks({ ...disk, diskSizeGB: 0 }),
      `dataDisks\\[0\\]\\.diskSizeGB: must be at least 1`,
    ],
    [
      "a data disk without a type",
      dataDisks({ ...disk, storageAccountType: " " }),
      `dataDisks\\[0\\]\\.storageAccountType: `,
    ],
    ["a data disk with a bad name", dataDisks({ ...disk, name: "a/b" }), `dataDisks\\[0\\]\\.name: must be letters`],
    [
      "a data disk of two images",
      dataDisks({ ...disk, imageRef: { id: "/a", urn: "a:b:c:d" } }),
      `dataDisks\\[0\\]\\.imageRef: must have`,
    ],
    [
      "a data disk of no image",
      dataDisks({ ...disk, imageRef: {} }),
      `dataDisks\\[0\\]\\.imageRef: must have exactly one`,
    ],
    [
      "root as the user",
      user({ adminUsername: "root" }),
      `${at}osProfile\\.adminUsername: must be another name: Azure reserves "root"`,
    ],
    [
      "another name that Azure reserves",
      user({ adminUsername: "support_388945a0" }),
      `${at}osProfile\\.adminUsername: must be another`,
    ],
    [
      "a user with a long name",
      user({ adminUsername: "a".repeat(65) }),
      `${at}osProfile\\.adminUsername: must have at most 64`,
    ],
    [
      "a key that is none",
      key("hello"),
      `${at}osProfile\\.linuxConfiguration\\.ssh\\.publicKeys\\.keyData: must be a public key`,
    ],
    ["a key without data", key("ssh-rsa nodes"), `${at}osProfile.*keyData: must be a public key`],
    ["two keys", key("ssh-rsa AAAA a\nssh-rsa AAAA b"), `${at}osProfile.*keyData: must be a public key`],
    [
      "a private key",
      key("-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n"),
      `${at}osProfile.*keyData: must be a public key[^\n]*id_ed25519\\.pub$`,
    ],
    [
      "an identity that is no resource",
      properties({ identityID: "nodes" }),
      `${at}identityID: must be the id of a resource of type Microsoft\\.ManagedIdentity/userAssignedIdentities`,
    ],
    [
      "an identity that has another type of resource",
      properties({ identityID: `${group}/Microsoft.Compute/images/i` }),
      `${at}identityID: `,
    ],
    [
      "a confidential VM without encryption",
      properties({ securityProfile: { securityType: "ConfidentialVM" } }),
      `${at}storageProfile\\.osDisk\\.managedDisk\\.securityProfile\\.securityEncryptionType: is required`,
    ],
    [
      "encryption of a VM that is not confidential",
      osDisk({ managedDisk: { securityProfile: { securityEncryptionType: "VMGuestStateOnly" } } }),
      `${at}storageProfile.*securityEncryptionType: may only be given`,
    ],
    [
      "an OS disk of a type for data",
      osDisk({ managedDisk: { storageAccountType: "PremiumV2_LRS" } }),
      `${at}storageProfile\\.osDisk\\.managedDisk\\.storageAccountType: must not be PremiumV2_LRS`,
    ],
    [
      "an ultra disk with a cache",
      dataDisks({ ...disk, storageAccountType: "UltraSSD_LRS", caching: "ReadWrite" }),
      `${at}storageProfile\\.dataDisks\\[0\\]\\.caching: must be "None" for disks of type UltraSSD_LRS`,
    ],
    [
      "a PremiumV2 disk with a cache",
      dataDisks({ ...disk, storageAccountType: "PremiumV2_LRS", caching: "ReadOnly" }),
      `${at}storageProfile.*caching: must be "None"`,
    ],
    ["no user", properties({ osProfile: { adminUsername: " " } }), `${at}osProfile\\.adminUsername: must not be blank`],
    ["no place", properties({ zone: undefined }), `${at.slice(0, -2)}: must have exactly one of zone`],
    ["zone and set", properties(set), `${at.slice(0, -2)}: must have exactly one of zone`],
    [
      "set and scale set",
      properties({ zone: undefined, ...set, virtualMachineScaleSet: { id: "/v" } }),
      `${at.slice(0, -2)}: must have exactly one`,
    ],
    [
      "zone and the deprecated set",
      properties({ machineSet: { id: "/s", kind: "vmo" } }),
      `${at.slice(0, -2)}: must have exactly one`,
    ],
    [
      "an unknown deprecated set",
      properties({ zone: undefined, machineSet: { id: "/s", kind: "x" } }),
      `${at}machineSet\\.kind: `,
    ],
    ["a zone that is a text", properties({ zone: "1" }), `${at}zone: `],
    [
      "an unknown protection",
      properties({ securityProfile: { securityType: "x" } }),
      `${at}securityProfile\\.securityType: `,
    ],
    [
      "a reservation that is no group",
      properties({ capacityReservation: { capacityReservationGroupID: "/subscriptions/s/resourceGroups/g" } }),
      `${at}capacityReservation\\.capacityReservationGroupID: must be the id`,
    ],
    ["an eviction of a regular VM", properties({ evictionPolicy: "Delete" }), `${at}evictionPolicy: may only`],
    [
      "a price of a regular VM",
      properties({ billingProfile: { maxPrice: 1 } }),
      `${at}billingProfile\\.maxPrice: may only`,
    ],
    [
      "a price of nothing",
      properties({ priority: "Spot", billingProfile: { maxPrice: 0 } }),
      `${at}billingProfile\\.maxPrice: must be`,
    ],
    [
      "a fallback zone without a zone",
      { ...properties({ zone: undefined, ...set }), fallbacks: [{ zone: 1 }] },
      "fallbacks\\[0\\]\\.zone: may only",
    ],
    ["a text of a megabyte", { resourceGroup: "a".repeat(2 ** 20) }, "providerSpec\\.resourceGroup: "],
    ["an empty fallback", { fallbacks: [{}] }, 'fallbacks\\[0\\]: must have "vmSize" or "zone"'],
    ["a key that would reach a prototype", JSON.parse('{"__proto__":{"a":1}}'), "__proto__"],
  ])("refuses %s and names the field", async (_, change, expected) => {
    const spec = { ...plainSpec };
    // Spreading drops `__proto__`; a class from the API server can have it.
    for (const [key, value] of Object.entries(change)) Object.defineProperty(spec, key, { value, enumerable: true });
    expect(await problemsOf(spec)).toEqual([expect.stringMatching(new RegExp(expected))]);
  });

  it.each<[string, object]>([
    ["every way to name an image", image({ sharedGalleryImageID: "/SharedGalleries/s" })],
    ["blank ways beside a good one", image({ id: " ", urn: "a:b:c:d", communityGalleryImageID: "" })],
    ["empty options", osDisk({ caching: "" })],
    [
      "a set in the place of a deprecated one",
      properties({ zone: undefined, ...set, machineSet: { id: "/other", kind: "availabilityset" } }),
    ],
    [
      "a group of reservations in any case",
      properties({
        capacityReservation: {
          capacityReservationGroupID:
            "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/CapacityReservationGroups/r",
        },
      }),
    ],
    [
      "blank references, which are none",
      properties({ availabilitySet: { id: "" }, virtualMachineScaleSet: {}, machineSet: null, identityID: "" }),
    ],
    ["a blank set beside a deprecated one", properties({ zone: null, availabilitySet: { id: "" }, machineSet: vmo })],
    [
      "empty texts for kinds of protection",
      {
        ...properties({ securityProfile: { securityType: "" } }),
        cloudConfiguration: { name: "", apiVersions: null },
      },
    ],
    ["a key of another kind, with a comment", key(" ecdsa-sha2-nistp256 AAAA= me and you \n")],
    ["a key of RFC 4716", key("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----")],
    ["a blank key", key(" ")],
    ["a blank identity", properties({ identityID: " " })],
    [
      "an identity in other letters",
      properties({ identityID: `${group.toLowerCase()}/microsoft.managedidentity/userassignedidentities/i` }),
    ],
    [
      "a PremiumV2 disk without a cache",
      dataDisks(
        { ...disk, storageAccountType: "PremiumV2_LRS", caching: "None" },
        { ...disk, lun: 1, storageAccountType: "PremiumV2_LRS" },
      ),
    ],
    [
      "a confidential VM",
      properties({
        storageProfile: {
          ...storageProfile,
          osDisk: {
            ...storageProfile.osDisk,
            managedDisk: { securityProfile: { securityEncryptionType: "NonPersistedTPM" } },
          },
        },
        securityProfile: { securityType: "ConfidentialVM" },
      }),
    ],
    ["an empty kind of encryption", osDisk({ managedDisk: { securityProfile: { securityEncryptionType: "" } } })],
    ["a tag that is null, which Go reads as an empty text", { tags: { ...plainSpec.tags, a: null } }],
    ["a spot VM at any price", properties({ priority: "Spot", billingProfile: { maxPrice: -1 } })],
    ["a data disk without a LUN, which is 0", dataDisks({ ...disk, lun: undefined })],
    ["a location as people write it", { location: "West Europe" }],
    ["as many tags as Azure takes", { tags: { ...plainSpec.tags, ...manyTags(48) } }],
    ["a cloud", { cloudConfiguration: { name: "AzureChina" } }],
    ["a cloud in other letters", { cloudConfiguration: { name: "azuregovernment" } }],
    ["api-versions", { cloudConfiguration: { apiVersions: { "microsoft.compute/Disks": "2022-07-02" } } }],
    ["no name of a cloud", { cloudConfiguration: {} }],
  ])("takes %s", async (_, change) => {
    expect(await problemsOf({ ...plainSpec, ...change })).toEqual([]);
  });

  it.each([[null], [undefined]])("is refused when it is %s", async (spec) => {
    expect(await problemsOf(spec)).toEqual([expect.stringContaining("is required")]);
  });
});
