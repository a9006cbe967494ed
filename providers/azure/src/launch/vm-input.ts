import type { ImageReference as SdkImageReference, VirtualMachine } from "@azure/arm-compute";
import { MachineError, type MachineIdentity, type Secret } from "@millwright/core";
import { type AzureSpec, placementOf } from "../spec/spec.ts";
import { type ImageReference, isGiven, readUrn } from "../spec/storage.ts";
import { dataDiskNameOf, nicNameOf, osDiskNameOf } from "../vm/names.ts";
import type { Launch, LaunchCandidate } from "./launch.ts";
import { diskIdOf, nicIdOf } from "./resource-ids.ts";

/** Azure's limit for custom data, before base64. */
const longestUserData = 65_535;

/**
 * The request that makes a VM. Pure: the same launch gives the same request.
 *
 * @throws MachineError InvalidArgument for user data that Azure would reject
 */
export function vmInput(launch: Launch, candidate: LaunchCandidate): VirtualMachine {
  const { spec, machine, vmName, subscriptionId, userData, tags, plan } = launch;
  const { identityID, osProfile, priority } = spec.properties;
  const { availabilitySetId, scaleSetId } = placementOf(spec);
  return {
    location: spec.location,
    tags,
    ...(candidate.zone === undefined ? {} : { zones: [String(candidate.zone)] }),
    ...(plan === undefined ? {} : { plan: { ...plan } }),
    ...(isGiven(identityID)
      ? { identity: { type: "UserAssigned", userAssignedIdentities: { [identityID]: {} } } }
      : {}),
    hardwareProfile: { vmSize: candidate.vmSize },
    storageProfile: storageOf(launch),
    osProfile: {
      adminUsername: osProfile.adminUsername,
      computerName: vmName,
      customData: customDataOf(machine, userData),
      linuxConfiguration: {
        disablePasswordAuthentication: osProfile.linuxConfiguration.disablePasswordAuthentication,
        ssh: { publicKeys: [{ path: keyPathOf(spec), keyData: launch.publicKey }] },
      },
    },
    networkProfile: {
      networkInterfaces: [
        { id: nicIdOf(subscriptionId, spec, nicNameOf(vmName)), primary: true, deleteOption: "Delete" },
      ],
    },
    ...(availabilitySetId === undefined ? {} : { availabilitySet: { id: availabilitySetId } }),
    ...(scaleSetId === undefined ? {} : { virtualMachineScaleSet: { id: scaleSetId } }),
    ...(priority === "Spot" ? { priority, evictionPolicy: spec.properties.evictionPolicy ?? "Deallocate" } : {}),
    ...billingOf(spec),
    ...diagnosticsOf(spec),
    ...securityOf(spec),
    ...reservationOf(spec),
  };
}

function customDataOf({ name }: MachineIdentity, userData: Secret): string {
  const bytes = userData.revealBytes();
  if (bytes.length <= longestUserData) return Buffer.from(bytes).toString("base64");
  throw new MachineError(
    "InvalidArgument",
    `the user data of machine "${name}" has ${bytes.length} bytes, Azure takes ${longestUserData}: shorten key "userData" of the class secret`,
  );
}

function keyPathOf({ properties }: AzureSpec): string {
  const { adminUsername, linuxConfiguration } = properties.osProfile;
  const path = linuxConfiguration.ssh?.publicKeys?.path;
  return isGiven(path) ? path : `/home/${adminUsername}/.ssh/authorized_keys`;
}

function storageOf({ spec, vmName, subscriptionId }: Launch): NonNullable<VirtualMachine["storageProfile"]> {
  const { imageReference, osDisk, dataDisks, diskControllerType } = spec.properties.storageProfile;
  const { storageAccountType, securityProfile } = osDisk.managedDisk ?? {};
  const encryption = securityProfile?.securityEncryptionType;
  return {
    imageReference: imageOf(imageReference),
    ...(isGiven(diskControllerType) ? { diskControllerType } : {}),
    osDisk: {
      name: osDiskNameOf(vmName),
      createOption: osDisk.createOption,
      diskSizeGB: osDisk.diskSizeGB,
      ...(isCaching(osDisk.caching) ? { caching: osDisk.caching } : {}),
      managedDisk: {
        ...(isGiven(storageAccountType) ? { storageAccountType } : {}),
        ...(isGiven(encryption) ? { securityProfile: { securityEncryptionType: encryption } } : {}),
      },
      deleteOption: "Delete",
    },
    dataDisks: dataDisks.map((disk) => {
      const name = dataDiskNameOf(vmName, disk);
      return {
        name,
        lun: disk.lun,
        caching: isCaching(disk.caching) ? disk.caching : "None",
        diskSizeGB: disk.diskSizeGB,
        deleteOption: "Delete" as const,
        ...(disk.imageRef === undefined
          ? { createOption: "Empty", managedDisk: { storageAccountType: disk.storageAccountType } }
          : {
              createOption: "Attach",
              managedDisk: { id: diskIdOf(subscriptionId, spec, name), storageAccountType: disk.storageAccountType },
            }),
      };
    }),
  };
}

type Caching = "None" | "ReadOnly" | "ReadWrite";

const isCaching = (value: Caching | "" | undefined): value is Caching => value !== undefined && value !== "";

function imageOf(image: ImageReference): SdkImageReference {
  const urn = readUrn(image.urn ?? "");
  if (urn !== undefined) return { ...urn };
  if (isGiven(image.communityGalleryImageID)) return { communityGalleryImageId: image.communityGalleryImageID };
  if (isGiven(image.sharedGalleryImageID)) return { sharedGalleryImageId: image.sharedGalleryImageID };
  return isGiven(image.id) ? { id: image.id } : {};
}

function billingOf({ properties }: AzureSpec): Pick<VirtualMachine, "billingProfile"> {
  const maxPrice = properties.billingProfile?.maxPrice;
  return maxPrice === undefined ? {} : { billingProfile: { maxPrice } };
}

function diagnosticsOf({ properties }: AzureSpec): Pick<VirtualMachine, "diagnosticsProfile"> {
  const { diagnosticsProfile: given } = properties;
  if (given === undefined) return {};
  const storage = isGiven(given.storageURI) ? { storageUri: given.storageURI } : {};
  return { diagnosticsProfile: { bootDiagnostics: { enabled: given.enabled, ...storage } } };
}

function securityOf({ properties }: AzureSpec): Pick<VirtualMachine, "securityProfile"> {
  const { securityProfile: given } = properties;
  if (given === undefined) return {};
  const { securityType, uefiSettings } = given;
  const { secureBootEnabled, vtpmEnabled } = uefiSettings ?? {};
  return {
    securityProfile: {
      ...(isGiven(securityType) ? { securityType } : {}),
      ...(uefiSettings === undefined
        ? {}
        : {
            uefiSettings: {
              ...(secureBootEnabled === undefined ? {} : { secureBootEnabled }),
              ...(vtpmEnabled === undefined ? {} : { vTpmEnabled: vtpmEnabled }),
            },
          }),
    },
  };
}

function reservationOf({ properties }: AzureSpec): Pick<VirtualMachine, "capacityReservation"> {
  const id = properties.capacityReservation?.capacityReservationGroupID;
  return isGiven(id) ? { capacityReservation: { capacityReservationGroup: { id } } } : {};
}
