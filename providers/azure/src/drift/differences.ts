import type { VirtualMachine } from "@azure/arm-compute";
import type { NetworkInterface } from "@azure/arm-network";
import type { VmDifference } from "@millwright/core";
import { type Compare, differencesFound } from "@millwright/core/driver-kit";
import { candidatesOf } from "../launch/launch.ts";
import { type AzureSpec, placementOf } from "../spec/spec.ts";
import { isGiven, readUrn, textOrNone } from "../spec/storage.ts";
import { isSameName } from "../vm/names.ts";
import { tagOf } from "../vm/owner-tags.ts";

/** The differences between a spec and a VM with its NIC. A field that Azure does not return is not a difference. */
export function differencesOf(
  spec: AzureSpec,
  vm: VirtualMachine,
  nic: NetworkInterface | undefined,
): readonly VmDifference[] {
  return differencesFound(
    (compare) => compareAll(spec, vm, nic, compare),
    // Azure shows ids, sizes and locations in other letters than it was given, and values of tags as they are.
    (wanted, found, field) => (field.startsWith("tags.") ? wanted === found : isSameName(wanted, found)),
  );
}

function compareAll(spec: AzureSpec, vm: VirtualMachine, nic: NetworkInterface | undefined, compare: Compare): void {
  const { properties } = spec;
  const isTried = candidatesOf(spec).some(
    ({ vmSize, zone }) =>
      vmSize.toLowerCase() === vm.hardwareProfile?.vmSize?.toLowerCase() &&
      (zone === undefined || vm.zones === undefined || vm.zones.includes(String(zone))),
  );
  if (!isTried) {
    compare("properties.hardwareProfile.vmSize", properties.hardwareProfile.vmSize, vm.hardwareProfile?.vmSize);
    compare("properties.zone", properties.zone, vm.zones?.[0]);
  }
  compareImage(spec, vm, compare);
  comparePlacement(spec, vm, compare);
  compareDisks(spec, vm, compare);
  compareNetwork(spec, nic, compare);
  const { securityType, uefiSettings } = properties.securityProfile ?? {};
  const found = vm.securityProfile;
  compare("properties.securityProfile.securityType", textOrNone(securityType), found?.securityType);
  compare(
    "properties.securityProfile.uefiSettings.secureBootEnabled",
    uefiSettings?.secureBootEnabled,
    found?.uefiSettings?.secureBootEnabled,
  );
  compare(
    "properties.securityProfile.uefiSettings.vtpmEnabled",
    uefiSettings?.vtpmEnabled,
    found?.uefiSettings?.vTpmEnabled,
  );
  compare("properties.osProfile.adminUsername", properties.osProfile.adminUsername, vm.osProfile?.adminUsername);
  compare(
    "properties.diagnosticsProfile.enabled",
    properties.diagnosticsProfile?.enabled,
    vm.diagnosticsProfile?.bootDiagnostics?.enabled ?? false,
  );
  compare("properties.priority", properties.priority, vm.priority ?? "Regular");
  const { identityID } = properties;
  if (isGiven(identityID)) {
    const identities = Object.keys(vm.identity?.userAssignedIdentities ?? {});
    if (!identities.some((id) => id.toLowerCase() === identityID.toLowerCase())) {
      compare("properties.identityID", identityID, identities.join(","));
    }
  }
  for (const [key, wanted] of Object.entries(spec.tags)) compare(`tags.${key}`, wanted, tagOf(vm.tags, key));
}

function compareImage({ properties }: AzureSpec, { storageProfile }: VirtualMachine, compare: Compare): void {
  const wanted = properties.storageProfile.imageReference;
  const found = storageProfile?.imageReference;
  if (found === undefined) return;
  const at = "properties.storageProfile.imageReference";
  const urn = readUrn(wanted.urn ?? "");
  if (urn !== undefined) {
    compare(`${at}.urn`, wanted.urn, [found.publisher, found.offer, found.sku, found.version].join(":"));
    return;
  }
  compare(`${at}.id`, textOrNone(wanted.id), found.id ?? "");
  const { communityGalleryImageID, sharedGalleryImageID } = wanted;
  compare(`${at}.communityGalleryImageID`, textOrNone(communityGalleryImageID), found.communityGalleryImageId ?? "");
  compare(`${at}.sharedGalleryImageID`, textOrNone(sharedGalleryImageID), found.sharedGalleryImageId ?? "");
}

function compareNetwork(
  { resourceGroup, subnetInfo, properties }: AzureSpec,
  nic: NetworkInterface | undefined,
  compare: Compare,
): void {
  const id = nic?.ipConfigurations?.[0]?.subnet?.id ?? "";
  const [, group, vnet, subnet] =
    /\/resourceGroups\/([^/]+)\/.*\/virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/i.exec(id) ?? [];
  const { vnetResourceGroup } = subnetInfo;
  compare("subnetInfo.vnetResourceGroup", isGiven(vnetResourceGroup) ? vnetResourceGroup : resourceGroup, group);
  compare("subnetInfo.vnetName", subnetInfo.vnetName, vnet);
  compare("subnetInfo.subnetName", subnetInfo.subnetName, subnet);
  compare(
    "properties.networkProfile.acceleratedNetworking",
    properties.networkProfile.acceleratedNetworking,
    nic === undefined ? undefined : (nic.enableAcceleratedNetworking ?? false),
  );
}

function comparePlacement(spec: AzureSpec, vm: VirtualMachine, compare: Compare): void {
  const { availabilitySetId, scaleSetId } = placementOf(spec);
  compare("properties.availabilitySet.id", availabilitySetId, vm.availabilitySet?.id ?? "");
  compare("properties.virtualMachineScaleSet.id", scaleSetId, vm.virtualMachineScaleSet?.id ?? "");
  const group = spec.properties.capacityReservation?.capacityReservationGroupID;
  compare(
    "properties.capacityReservation.capacityReservationGroupID",
    isGiven(group) ? group : undefined,
    vm.capacityReservation?.capacityReservationGroup?.id ?? "",
  );
}

function compareDisks({ properties }: AzureSpec, { storageProfile }: VirtualMachine, compare: Compare): void {
  const { osDisk, dataDisks, diskControllerType } = properties.storageProfile;
  const at = "properties.storageProfile";
  const found = storageProfile?.osDisk;
  compare(
    `${at}.diskControllerType`,
    isGiven(diskControllerType) ? diskControllerType : undefined,
    storageProfile?.diskControllerType,
  );
  compare(`${at}.osDisk.diskSizeGB`, osDisk.diskSizeGB, found?.diskSizeGB);
  compare(`${at}.osDisk.caching`, textOrNone(osDisk.caching), found?.caching);
  compare(
    `${at}.osDisk.managedDisk.storageAccountType`,
    textOrNone(osDisk.managedDisk?.storageAccountType),
    found?.managedDisk?.storageAccountType,
  );
  compare(
    `${at}.osDisk.managedDisk.securityProfile.securityEncryptionType`,
    textOrNone(osDisk.managedDisk?.securityProfile?.securityEncryptionType),
    found?.managedDisk?.securityProfile?.securityEncryptionType,
  );
  for (const [index, wanted] of dataDisks.entries()) {
    const actual = storageProfile?.dataDisks?.find(({ lun }) => lun === wanted.lun);
    if (storageProfile?.dataDisks !== undefined && actual === undefined) {
      compare(`${at}.dataDisks[${index}]`, `lun ${wanted.lun}`, "");
    }
    compare(`${at}.dataDisks[${index}].diskSizeGB`, wanted.diskSizeGB, actual?.diskSizeGB);
    compare(`${at}.dataDisks[${index}].caching`, isGiven(wanted.caching) ? wanted.caching : undefined, actual?.caching);
    compare(
      `${at}.dataDisks[${index}].storageAccountType`,
      wanted.storageAccountType,
      actual?.managedDisk?.storageAccountType,
    );
  }
}
