import { planKey } from "./catalog.ts";
import { ArmRefusal } from "./refusal.ts";
import { keyOf, locationOf, nameOf } from "./resource-path.ts";
import type { VirtualMachine } from "./resources.ts";
import type { VmBody } from "./virtual-machine-body.ts";
import type { ArmWorld } from "./world.ts";

/** Rejects a new VM with a reference that does not exist or may not be used. */
export function checkReferences(world: ArmWorld, id: string, body: VmBody): void {
  const { hardwareProfile, storageProfile, networkProfile } = body.properties;
  if (locationOf(body.location) !== world.location) {
    throw new ArmRefusal(
      "LocationNotAvailableForResourceType",
      `The provided location '${body.location}' is not available.`,
    );
  }
  const size = world.sizes.get(hardwareProfile.vmSize);
  if (size === undefined) {
    throw new ArmRefusal(
      "InvalidParameter",
      `The value ${hardwareProfile.vmSize} provided for the VM size is not valid.`,
    );
  }
  const [zone] = body.zones ?? [];
  if (zone !== undefined && !(size.zones ?? ["1", "2", "3"]).includes(zone)) {
    throw new ArmRefusal(
      "SkuNotAvailable",
      `The requested VM size '${hardwareProfile.vmSize}' is currently not available in location '${body.location}' zone '${zone}'.`,
    );
  }
  checkImage(world, body);
  for (const { id: nicId } of networkProfile.networkInterfaces) checkNic(world, id, nicId);
  for (const { createOption, managedDisk, name } of storageProfile.dataDisks ?? []) {
    if (createOption !== "Attach") {
      if (managedDisk?.id !== undefined)
        throw new ArmRefusal("InvalidParameter", `Disk ${name} has an id and is not attached.`);
      continue;
    }
    const disk = world.disks.get(keyOf(managedDisk?.id ?? ""));
    if (disk === undefined) throw new ArmRefusal("NotFound", `Disk ${managedDisk?.id ?? name} is not found.`);
    if (disk.managedBy !== undefined && disk.managedBy !== id) {
      throw new ArmRefusal("Conflict", `Disk ${disk.name} is attached to ${disk.managedBy}.`);
    }
  }
}

const reservedNames: ReadonlySet<string> = new Set(
  "1 123 a actuser adm admin admin1 admin2 administrator aspnet backup console david guest john owner root server sql support support_388945a0 sys test test1 test2 test3 user user1 user2 user3 user4 user5".split(
    " ",
  ),
);
const identityPattern = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.ManagedIdentity\//i;
const dataDiskTypes: ReadonlySet<string | undefined> = new Set(["PremiumV2_LRS", "UltraSSD_LRS"]);

/** Rejects a new VM with a combination of fields that Azure does not take. */
export function checkProfiles({ identity, properties }: VmBody): void {
  const { osProfile, storageProfile, securityProfile } = properties;
  for (const id of Object.keys(identity?.userAssignedIdentities ?? {})) {
    if (identityPattern.test(id)) continue;
    throw new ArmRefusal(
      "LinkedInvalidPropertyId",
      `Property id '${id}' at path 'identity.userAssignedIdentities' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}'.`,
    );
  }
  const invalid = (parameter: string, why: string): ArmRefusal =>
    new ArmRefusal("InvalidParameter", `The value of parameter ${parameter} is invalid. ${why}`);
  if (reservedNames.has(osProfile.adminUsername)) throw invalid("adminUsername", "It uses reserved words.");
  for (const { keyData } of osProfile.linuxConfiguration.ssh?.publicKeys ?? []) {
    if (!/^(ssh|ecdsa|sk)-\S+ AAAA/.test(keyData.trim())) {
      throw invalid("linuxConfiguration.ssh.publicKeys.keyData", "It is not an SSH key in OpenSSH format.");
    }
  }
  const { managedDisk } = storageProfile.osDisk;
  const isConfidential = securityProfile?.securityType === "ConfidentialVM";
  if (isConfidential !== (managedDisk?.securityProfile !== undefined)) {
    throw invalid(
      "osDisk.managedDisk.securityProfile",
      "Confidential VMs have a securityEncryptionType, and no others.",
    );
  }
  if (dataDiskTypes.has(managedDisk?.storageAccountType)) {
    throw invalid("osDisk.managedDisk.storageAccountType", "The type cannot be used for OS disks.");
  }
  for (const { caching = "None", managedDisk: of } of storageProfile.dataDisks ?? []) {
    if (caching !== "None" && dataDiskTypes.has(of?.storageAccountType)) {
      throw invalid("dataDisk.caching", `Disks of type ${of?.storageAccountType} have no host caching.`);
    }
  }
}

function checkImage(world: ArmWorld, { plan, properties }: VmBody): void {
  const image = properties.storageProfile.imageReference;
  if (image === undefined) return;
  const ids = [image.id, image.communityGalleryImageId, image.sharedGalleryImageId].filter(
    (given) => given !== undefined,
  );
  if (ids.some((given) => given.includes("missing")))
    throw new ArmRefusal("NotFound", "The gallery image was not found.");
  if (ids.length > 0) return;
  const urn = [image.publisher, image.offer, image.sku, image.version].join(":");
  const known = world.images.get(urn);
  if (known === undefined)
    throw new ArmRefusal("PlatformImageNotFound", `The platform image '${urn}' is not available.`);
  if (known.plan === undefined) return;
  if (plan === undefined || planKey(plan) !== planKey(known.plan)) {
    throw new ArmRefusal(
      "VMMarketplaceInvalidInput",
      "Creating a virtual machine from Marketplace image requires Plan information in the request.",
    );
  }
  if (!world.acceptedPlans.has(planKey(plan))) {
    throw new ArmRefusal(
      "MarketplacePurchaseEligibilityFailed",
      "Marketplace purchase eligibilty check returned errors: you have not accepted the legal terms on this subscription.",
    );
  }
}

function checkNic(world: ArmWorld, vmId: string, nicId: string): void {
  const nic = world.nics.get(keyOf(nicId));
  if (nic === undefined) {
    throw new ArmRefusal("InvalidResourceReference", `Resource ${nicId} referenced by resource ${vmId} was not found.`);
  }
  if (nic.vmId !== undefined && nic.vmId !== vmId) {
    throw new ArmRefusal("NicInUse", `Network Interface ${nicId} is used by existing resource ${nic.vmId}.`);
  }
  const { reserved } = nic;
  if (reserved !== undefined && reserved.vmId !== vmId && reserved.untilMs > world.nowMs()) {
    throw new ArmRefusal("NicReservedForAnotherVm", `Nic(s) in request is reserved for ${nameOf(reserved.vmId)}.`);
  }
}

/** Rejects a new VM when the quota of cores is exhausted. */
export function checkQuota(world: ArmWorld, body: VmBody): void {
  const cores = ({ properties }: VmBody): number => world.sizes.get(properties.hardwareProfile.vmSize)?.vcpus ?? 0;
  const limit = world.options.coreLimit ?? Number.POSITIVE_INFINITY;
  const used = [...world.vms.values()].reduce((sum, vm) => sum + cores(vm.body), 0);
  if (used + cores(body) <= limit) return;
  throw new ArmRefusal(
    "OperationNotAllowed",
    `Operation could not be completed as it results in exceeding approved Total Regional Cores quota. Additional details - Current Limit: ${limit}, Current Usage: ${used}.`,
  );
}

/** The error code for missing capacity; undefined when there is capacity. */
export function capacityFailure(
  world: ArmWorld,
  { zones, properties }: VmBody,
): { readonly code: string; readonly message: string } | undefined {
  const { vmSize } = properties.hardwareProfile;
  const [zone] = zones ?? [];
  const keys = zone === undefined ? [vmSize] : [`${vmSize}/${zone}`, vmSize];
  if (keys.every((key) => (world.capacity.get(key) ?? 1) > 0)) {
    for (const key of keys) {
      const left = world.capacity.get(key);
      if (left !== undefined) world.capacity.set(key, left - 1);
    }
    return undefined;
  }
  return {
    code: zone === undefined ? "AllocationFailed" : "ZonalAllocationFailed",
    message: `Allocation failed. We do not have sufficient capacity for the requested VM size ${zone === undefined ? "in this region" : "in this zone"}.`,
  };
}

/** Immutable properties of a VM. */
export function checkUnchanged({ body }: VirtualMachine, wanted: VmBody): void {
  const fixed: readonly (readonly [string, (body: VmBody) => unknown])[] = [
    ["osProfile.customData", (of) => of.properties.osProfile.customData],
    ["osProfile.computerName", (of) => of.properties.osProfile.computerName],
    ["osProfile.adminUsername", (of) => of.properties.osProfile.adminUsername],
    ["imageReference", (of) => of.properties.storageProfile.imageReference],
    ["zones", (of) => of.zones],
    ["availabilitySet", (of) => of.properties.availabilitySet],
    ["priority", (of) => of.properties.priority],
    ["hardwareProfile", (of) => of.properties.hardwareProfile],
  ];
  for (const [property, read] of fixed) {
    if (JSON.stringify(read(body)) === JSON.stringify(read(wanted))) continue;
    throw new ArmRefusal("PropertyChangeNotAllowed", `Changing property '${property}' is not allowed.`);
  }
}
