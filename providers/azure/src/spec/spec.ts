import { goObject } from "@millwright/core";
import { type AddIssue, checkFallbacks, issueCollector, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";
import { checkApiVersions } from "./api-versions.ts";
import { cloudNames, isCloudName } from "./clouds.ts";
import { clusterTagStart, roleTagStart } from "./cluster-keys.ts";
import { checkOsProfile, osProfileSchema } from "./os-profile.ts";
import { checkStorage, isGiven, storageProfileOfVmSchema, storageProfileSchema, textOrNone } from "./storage.ts";

/** Azure's limit for the tags of one resource. */
export const mostTags = 50;

const text = (description: string) => z.string().max(2_048).describe(description);
const required = (description: string) => text(description).regex(/\S/, "must not be blank");

/** Go does not distinguish an empty id from an absent one: MCM's driver treats a reference without one as absent. */
const referenceSchema = (description: string) =>
  goObject({ id: text("Id of the resource; blank means none.").default("") }).describe(description);

const securityTypes = ["", "ConfidentialVM", "TrustedLaunch", "Standard"] as const;

const propertiesShape = {
  hardwareProfile: goObject({ vmSize: required("Size of the VM, such as `Standard_D4s_v5`.") }),
  storageProfile: storageProfileSchema,
  osProfile: osProfileSchema,
  networkProfile: goObject({
    acceleratedNetworking: z.boolean().describe("Whether the NIC has accelerated networking.").optional(),
  }).prefault({}),
  zone: z
    .int32()
    .min(1)
    .max(3)
    .describe("Zone of the VM. Exactly one of this, `availabilitySet` and `virtualMachineScaleSet`.")
    .optional(),
  availabilitySet: referenceSchema("Availability set of the VM.").optional(),
  virtualMachineScaleSet: referenceSchema("Scale set in flexible mode that the VM joins.").optional(),
  machineSet: goObject({
    id: text("Id of the resource; blank means none.").default(""),
    kind: z.enum(["availabilityset", "vmo"]).describe("`availabilityset`, or `vmo` for a scale set."),
  })
    .describe("Deprecated: an availability set or a scale set.")
    .optional(),
  identityID: text("Id of a user-assigned identity that the VM has.").optional(),
  diagnosticsProfile: goObject({
    enabled: z.boolean().describe("Whether the console of the boot is kept.").default(false),
    storageURI: text("Storage account to keep it in; by default one of Azure's.").optional(),
  }).optional(),
  securityProfile: goObject({
    securityType: z
      .enum(securityTypes, { error: 'must be "ConfidentialVM", "TrustedLaunch" or "Standard"' })
      .describe(
        "Kind of protection. `Standard` is not in MCM, and not in the default api-version: it needs 2025-11-01 or later.",
      )
      .optional(),
    uefiSettings: goObject({
      vtpmEnabled: z.boolean().describe("Virtual TPM.").optional(),
      secureBootEnabled: z.boolean().describe("Secure boot.").optional(),
    }).optional(),
  }).optional(),
  capacityReservation: goObject({
    capacityReservationGroupID: text("Group of reservations to use.").optional(),
  }).optional(),
  priority: z.enum(["Regular", "Spot"]).describe("`Spot`: Azure may reclaim the VM. Not in MCM.").default("Regular"),
  evictionPolicy: z
    .enum(["Deallocate", "Delete"])
    .describe(
      "What happens to a spot VM that Azure reclaims. Only for a deallocated one the driver can report that it was reclaimed. Default `Deallocate`. Not in MCM.",
    )
    .optional(),
  billingProfile: goObject({
    maxPrice: z
      .number()
      .describe(
        "Highest price per hour for a spot VM, in dollars; -1, the default: up to that of a regular one. Not in MCM.",
      )
      .optional(),
  }).optional(),
};

const propertiesSchema = goObject(propertiesShape);

const fallbackSchema = goObject({
  vmSize: required("Size to try; that of the class by default.").optional(),
  zone: z.int32().min(1).max(3).describe("Zone to try; that of the class by default.").optional(),
}).describe("Alternatives, in this order, when there is no capacity. Not in MCM.");

const specShape = {
  apiVersion: text("Ignored.").optional(),
  location: text("Location of the VM; part of its provider id.").regex(
    /^[A-Za-z0-9]+( [A-Za-z0-9]+)*$/,
    "must be a location such as westeurope",
  ),
  resourceGroup: required("Resource group of the VM, its NIC and its disks."),
  subnetInfo: goObject({
    vnetName: required("Network."),
    subnetName: required("Subnet of the NIC."),
    vnetResourceGroup: text("Resource group of the network; `resourceGroup` by default.").optional(),
  }),
  tags: z
    // Go reads null in a map of texts as an empty one.
    .record(
      z.string(),
      z.preprocess((value) => value ?? "", z.string().max(256)),
    )
    .describe(
      `Tags of VM, NIC and disks. One key has to begin with \`${clusterTagStart}\` and one with \`${roleTagStart}\`: the driver identifies its resources by them.`,
    ),
  cloudConfiguration: goObject({
    name: text(`Which of Azure's clouds: ${cloudNames.map((name) => `\`${name}\``).join(", ")}, in any case.`)
      .refine((name) => name.trim() === "" || isCloudName(name), `must be one of ${cloudNames.join(", ")}`)
      .default("AzurePublic"),
    apiVersions: z
      .record(z.string(), z.string())
      .describe(
        "Versions of Azure's API by resource type (`Microsoft.Compute/disks`) or provider (`Microsoft.Compute`), for a cloud that lacks the default ones. Not in MCM.",
      )
      .optional(),
  }).optional(),
  properties: propertiesSchema,
  fallbacks: z.array(fallbackSchema).max(20).default([]),
};

const specSchema = goObject(specShape);

/** `providerSpec` of the Azure driver, with its defaults. Fields are spelled as on the wire. */
export type AzureSpec = Readonly<z.output<typeof specSchema>>;

/** Schema of `providerSpec` of classes with `provider: Azure`: that of MCM's driver, keys in any case, and what was added. */
export const azureSpecSchema = specSchema.superRefine((spec, check) => {
  const addIssue = issueCollector(check);
  checkFallbacks(spec.fallbacks, ["vmSize", "zone"], addIssue);
  checkTags(spec, addIssue);
  checkApiVersions(spec.cloudConfiguration?.apiVersions ?? {}, ["cloudConfiguration", "apiVersions"], addIssue);
  checkStorage(spec.properties.storageProfile, addIssue);
  checkPlacement(spec, addIssue);
  checkReservation(spec, addIssue);
  checkOsProfile(spec.properties.osProfile, addIssue);
  checkIdentity(spec, addIssue);
  checkConfidential(spec, addIssue);
  checkSpot(spec, addIssue);
});

/** What is valid of `properties` of a class whose VM is only looked for. */
const propertiesOfVmSchema = goObject(
  withFallbackValues({ ...propertiesShape, storageProfile: storageProfileOfVmSchema }, [], {
    storageProfile: storageProfileOfVmSchema.parse({}),
    hardwareProfile: { vmSize: "" },
    osProfile: { adminUsername: "", linuxConfiguration: { disablePasswordAuthentication: true } },
  }),
);

/**
 * Reads what finds a VM and its parts, their cloud, location, resource group and the keys of their tags, from a class that {@link azureSpecSchema} rejects, and what is valid of the rest.
 */
export const azureVmSpecSchema = goObject(
  withFallbackValues(
    {
      ...specShape,
      tags: z.record(z.string(), z.string().catch("")),
      properties: propertiesOfVmSchema,
    },
    ["location", "resourceGroup", "tags", "cloudConfiguration"],
    { subnetInfo: { vnetName: "", subnetName: "" }, properties: propertiesOfVmSchema.parse({}) },
  ),
).superRefine((spec, check) => {
  const addIssue = issueCollector(check);
  checkClusterKeys(spec, addIssue);
  checkApiVersions(spec.cloudConfiguration?.apiVersions ?? {}, ["cloudConfiguration", "apiVersions"], addIssue);
});

function checkClusterKeys({ tags }: Pick<AzureSpec, "tags">, addIssue: AddIssue): void {
  for (const start of [clusterTagStart, roleTagStart]) {
    if (!Object.keys(tags).some((key) => key.startsWith(start)))
      addIssue(["tags"], `must have a key that begins with "${start}"`);
  }
}

function checkTags({ tags }: AzureSpec, addIssue: AddIssue): void {
  const keys = Object.keys(tags);
  checkClusterKeys({ tags }, addIssue);
  if (keys.length > mostTags) {
    addIssue(["tags"], `must be at most ${mostTags}: Azure takes no more`);
  }
  for (const key of keys) {
    if (key.length > 512 || /[<>%&\\?/]/.test(key)) addIssue(["tags", key], "must have a name without < > % & \\ ? /");
  }
}

/** Where a VM stands beside its location: the deprecated `machineSet` counts where the field that replaces it is not set. */
export function placementOf({ properties }: Pick<AzureSpec, "properties">): {
  readonly zone: number | undefined;
  readonly availabilitySetId: string | undefined;
  readonly scaleSetId: string | undefined;
} {
  const { zone, availabilitySet, virtualMachineScaleSet, machineSet } = properties;
  return {
    zone,
    availabilitySetId:
      textOrNone(availabilitySet?.id) ??
      (machineSet?.kind === "availabilityset" ? textOrNone(machineSet.id) : undefined),
    scaleSetId:
      textOrNone(virtualMachineScaleSet?.id) ?? (machineSet?.kind === "vmo" ? textOrNone(machineSet.id) : undefined),
  };
}

function checkPlacement(spec: AzureSpec, addIssue: AddIssue): void {
  const { zone, availabilitySetId, scaleSetId } = placementOf(spec);
  const given = [zone, availabilitySetId, scaleSetId].filter((value) => value !== undefined).length;
  if (given !== 1) {
    addIssue(["properties"], "must have exactly one of zone, availabilitySet and virtualMachineScaleSet");
  }
  for (const [index, fallback] of spec.fallbacks.entries()) {
    if (fallback.zone !== undefined && zone === undefined) {
      addIssue(["fallbacks", index, "zone"], "may only be given when properties.zone is");
    }
  }
}

const reservationGroupPattern =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/capacityReservationGroups\/[^/]+$/i;

function checkReservation({ properties }: AzureSpec, addIssue: AddIssue): void {
  const id = properties.capacityReservation?.capacityReservationGroupID;
  if (isGiven(id) && !reservationGroupPattern.test(id)) {
    addIssue(
      ["properties", "capacityReservation", "capacityReservationGroupID"],
      "must be the id of a resource of type Microsoft.Compute/capacityReservationGroups",
    );
  }
}

const identityPattern =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.ManagedIdentity\/userAssignedIdentities\/[^/]+$/i;

function checkIdentity({ properties }: AzureSpec, addIssue: AddIssue): void {
  const { identityID } = properties;
  if (isGiven(identityID) && !identityPattern.test(identityID)) {
    addIssue(
      ["properties", "identityID"],
      "must be the id of a resource of type Microsoft.ManagedIdentity/userAssignedIdentities",
    );
  }
}

/**
 * A confidential VM has a kind of encryption of its OS disk, and no other VM has one (Azure Compute REST API, `SecurityEncryptionTypes`; https://learn.microsoft.com/azure/confidential-computing/quick-create-confidential-vm-arm).
 */
function checkConfidential({ properties }: AzureSpec, addIssue: AddIssue): void {
  const encryption = properties.storageProfile.osDisk.managedDisk?.securityProfile?.securityEncryptionType;
  const isConfidential = properties.securityProfile?.securityType === "ConfidentialVM";
  if (isConfidential === isGiven(encryption)) return;
  addIssue(
    ["properties", "storageProfile", "osDisk", "managedDisk", "securityProfile", "securityEncryptionType"],
    isConfidential
      ? 'is required with securityType "ConfidentialVM"'
      : 'may only be given with securityProfile.securityType "ConfidentialVM"',
  );
}

function checkSpot({ properties }: AzureSpec, addIssue: AddIssue): void {
  const { priority, evictionPolicy, billingProfile } = properties;
  const price = billingProfile?.maxPrice;
  if (price !== undefined && price !== -1 && price <= 0) {
    addIssue(["properties", "billingProfile", "maxPrice"], "must be more than 0, or -1");
  }
  if (priority === "Spot") return;
  if (evictionPolicy !== undefined) {
    addIssue(["properties", "evictionPolicy"], 'may only be given with priority "Spot"');
  }
  if (price !== undefined)
    addIssue(["properties", "billingProfile", "maxPrice"], 'may only be given with priority "Spot"');
}
