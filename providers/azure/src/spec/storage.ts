import { goObject } from "@millwright/core";
import { type AddIssue, withFallbackValues } from "@millwright/core/driver-kit";
import * as z from "zod";

const text = (description: string) => z.string().max(2_048).describe(description);

/** Schema of an image: exactly one of its four ways to name one. */
export const imageReferenceSchema = goObject({
  id: text("Id of an image or of a version in a private gallery.").optional(),
  urn: text("Image of the marketplace: `publisher:offer:sku:version`.").optional(),
  communityGalleryImageID: text("Image of a community gallery.").optional(),
  sharedGalleryImageID: text("Image of a shared gallery.").optional(),
  skipMarketplaceAgreement: z
    .boolean()
    .describe(
      "With `urn`: does not look for a plan and its terms. The VM then has no plan, which images with one do not work without.",
    )
    .default(false),
});

/** An image as a class names it. */
export type ImageReference = Readonly<z.output<typeof imageReferenceSchema>>;

const caching = (description: string) =>
  z
    .enum(["", "None", "ReadOnly", "ReadWrite"], { error: 'must be "None", "ReadOnly" or "ReadWrite"' })
    .describe(description);

const encryptionTypes = ["", "DiskWithVMGuestState", "NonPersistedTPM", "VMGuestStateOnly"] as const;

const osDiskSchema = goObject({
  createOption: z
    .enum(["FromImage", "Attach"])
    .describe("`FromImage`. `Attach` is accepted as in MCM; Azure rejects it."),
  diskSizeGB: z.int32().min(1, "must be at least 1").describe("Size in GiB."),
  caching: caching("Cache of the host.").optional(),
  managedDisk: goObject({
    storageAccountType: text("Type of the disk, such as `Premium_LRS`.").optional(),
    securityProfile: goObject({
      securityEncryptionType: z
        .enum(encryptionTypes, { error: 'must be "DiskWithVMGuestState", "NonPersistedTPM" or "VMGuestStateOnly"' })
        .describe("What is encrypted on the disk of a confidential VM.")
        .optional(),
    }).optional(),
  }).optional(),
}).describe("Disk of the operating system. It is deleted with the VM.");

const dataDiskShape = {
  name: text("Part of the name of the disk; by default only the LUN distinguishes disks.")
    .regex(/^\s*[A-Za-z0-9_.-]*\s*$/, "must be letters, digits, dots, dashes and underscores")
    .optional(),
  lun: z.int32().min(0).describe("Logical unit of the disk; unique.").default(0),
  diskSizeGB: z.int32().min(1, "must be at least 1").describe("Size in GiB."),
  storageAccountType: text("Type of the disk, such as `Premium_LRS`.").regex(/\S/, "must not be blank"),
  caching: caching("Cache of the host.").optional(),
  imageRef: imageReferenceSchema.describe("Image of the disk, which is then created before the VM.").optional(),
};

const dataDiskSchema = goObject(dataDiskShape);

const dataDiskOfVmSchema = goObject(withFallbackValues(dataDiskShape, [], { diskSizeGB: 1, storageAccountType: "" }));

/** An entry of `properties.storageProfile.dataDisks`. */
export type DataDisk = Readonly<z.output<typeof dataDiskSchema>>;

const storageProfileShape = {
  imageReference: imageReferenceSchema.describe(
    "Image of the VM: exactly one of `id`, `urn`, `communityGalleryImageID` and `sharedGalleryImageID`.",
  ),
  osDisk: osDiskSchema,
  dataDisks: z.array(dataDiskSchema).max(64).describe("Additional disks. They are deleted with the VM.").default([]),
  diskControllerType: z
    .enum(["", "SCSI", "NVMe"], { error: 'must be "SCSI" or "NVMe"' })
    .describe("How disks are attached; by default as image and size have it.")
    .optional(),
};

/** Schema of `properties.storageProfile`. */
export const storageProfileSchema = goObject(storageProfileShape);

/** The same of a class whose VM is only looked for: names and numbers of data disks are parts of the names of their resources. */
export const storageProfileOfVmSchema = goObject(
  withFallbackValues({ ...storageProfileShape, dataDisks: z.array(dataDiskOfVmSchema).default([]) }, [], {
    imageReference: { skipMarketplaceAgreement: false },
    osDisk: { createOption: "FromImage", diskSizeGB: 1 },
  }),
);

/** `properties.storageProfile` of a class. */
export type StorageProfile = Readonly<z.output<typeof storageProfileSchema>>;

/** Whether a text is there and not blank. */
export const isGiven = (value: string | undefined): value is string => value !== undefined && value.trim() !== "";

/** A text that is there and not blank; undefined for any other. */
export const textOrNone = <Text extends string>(value: Text | undefined): Text | undefined =>
  isGiven(value) ? value : undefined;

/** The four parts of an URN. */
export interface Urn {
  readonly publisher: string;
  readonly offer: string;
  readonly sku: string;
  readonly version: string;
}

/** Reads `publisher:offer:sku:version`; undefined for another text. */
export function readUrn(urn: string): Urn | undefined {
  const [publisher = "", offer = "", sku = "", version = "", ...more] = urn.split(":").map((part) => part.trim());
  const isWhole = [publisher, offer, sku, version].every((part) => part !== "") && more.length === 0;
  return isWhole ? { publisher, offer, sku, version } : undefined;
}

function checkImage(image: ImageReference, at: readonly (string | number)[], addIssue: AddIssue): void {
  const given = [image.id, image.urn, image.communityGalleryImageID, image.sharedGalleryImageID].filter(isGiven);
  if (given.length !== 1) {
    addIssue(at, "must have exactly one of id, urn, communityGalleryImageID and sharedGalleryImageID");
  } else if (isGiven(image.urn) && readUrn(image.urn) === undefined) {
    addIssue([...at, "urn"], 'must look like "publisher:offer:sku:version"');
  }
}

/**
 * Types of disks that only data disks have, without a cache of the host (https://learn.microsoft.com/azure/virtual-machines/disks-types, Ultra disk limitations and Premium SSD v2 limitations).
 */
const isDataDiskType = (type: string | undefined): boolean =>
  ["premiumv2_lrs", "ultrassd_lrs"].includes(type?.trim().toLowerCase() ?? "");

/** Rules over `properties.storageProfile` (machine-controller-manager-provider-azure, `pkg/azure/api/validation/validation.go`). */
export function checkStorage({ imageReference, osDisk, dataDisks }: StorageProfile, addIssue: AddIssue): void {
  const profile = ["properties", "storageProfile"];
  checkImage(imageReference, [...profile, "imageReference"], addIssue);
  const ofOs = osDisk.managedDisk?.storageAccountType;
  if (isDataDiskType(ofOs)) {
    addIssue(
      [...profile, "osDisk", "managedDisk", "storageAccountType"],
      `must not be ${ofOs}, which only data disks can be`,
    );
  }
  const luns = dataDisks.map(({ lun }) => lun);
  for (const [index, { lun, imageRef, storageAccountType, caching: cache }] of dataDisks.entries()) {
    const at = [...profile, "dataDisks", index];
    if (luns.indexOf(lun) !== index) addIssue([...at, "lun"], `must be unique, ${lun} occurs twice`);
    if (isDataDiskType(storageAccountType) && isGiven(cache) && cache !== "None") {
      addIssue([...at, "caching"], `must be "None" for disks of type ${storageAccountType}`);
    }
    if (imageRef !== undefined) checkImage(imageRef, [...at, "imageRef"], addIssue);
  }
}
