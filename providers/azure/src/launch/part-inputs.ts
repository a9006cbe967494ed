import type { Disk } from "@azure/arm-compute";
import type { NetworkInterface } from "@azure/arm-network";
import { type DataDisk, type ImageReference, isGiven, readUrn } from "../spec/storage.ts";
import { nicNameOf } from "../vm/names.ts";
import type { Launch, LaunchCandidate } from "./launch.ts";
import { marketplaceImageId, subnetIdOf } from "./resource-ids.ts";

/** The request that makes the NIC of a VM. */
export function nicInput({ spec, vmName, subscriptionId, tags }: Launch): NetworkInterface {
  const { acceleratedNetworking } = spec.properties.networkProfile;
  return {
    location: spec.location,
    tags,
    enableIPForwarding: true,
    ...(acceleratedNetworking === undefined ? {} : { enableAcceleratedNetworking: acceleratedNetworking }),
    nicType: "Standard",
    ipConfigurations: [
      {
        name: nicNameOf(vmName),
        privateIPAllocationMethod: "Dynamic",
        subnet: { id: subnetIdOf(subscriptionId, spec) },
      },
    ],
  };
}

/** The request that makes a data disk that starts from an image. */
export function diskInput(
  { spec, subscriptionId, tags }: Launch,
  { zone }: LaunchCandidate,
  { diskSizeGB, storageAccountType }: DataDisk,
  image: ImageReference,
): Disk {
  return {
    location: spec.location,
    tags,
    ...(zone === undefined ? {} : { zones: [String(zone)] }),
    sku: { name: storageAccountType },
    osType: "Linux",
    diskSizeGB,
    creationData: { createOption: "FromImage", ...imageSource(image, subscriptionId, spec.location) },
  };
}

function imageSource(
  image: ImageReference,
  subscriptionId: string,
  location: string,
): Pick<Disk["creationData"] & object, "imageReference" | "galleryImageReference"> {
  if (isGiven(image.sharedGalleryImageID)) {
    return { galleryImageReference: { sharedGalleryImageId: image.sharedGalleryImageID } };
  }
  if (isGiven(image.communityGalleryImageID)) {
    return { galleryImageReference: { communityGalleryImageId: image.communityGalleryImageID } };
  }
  const urn = readUrn(image.urn ?? "");
  return {
    imageReference: { id: urn === undefined ? (image.id ?? "") : marketplaceImageId(subscriptionId, location, urn) },
  };
}
