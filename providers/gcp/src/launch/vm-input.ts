import { MachineError, userDataKey } from "@millwright/core";
import type { InstanceResource } from "../api/requests.ts";
import { type Disk, isScratch } from "../spec/disks.ts";
import type { NetworkInterface } from "../spec/network-interfaces.ts";
import { networkPathOf, subnetworkPathOf } from "../spec/network-paths.ts";
import type { GcpSpec } from "../spec/spec.ts";
import { allLabels, keptDiskLabel, ownerLabelsOf } from "../vm/owner-tags.ts";
import type { Launch, LaunchCandidate } from "./launch.ts";

/** Google's limit for one value of metadata. */
const longestUserData = 262_144;

/**
 * The instance that is asked for, field by field as MCM's driver sends it (machine-controller-manager-provider-gcp, `pkg/gcp/machine_controller_util.go`). Pure.
 *
 * @throws MachineError InvalidArgument for user data that Compute Engine would reject
 */
export function vmInput(launch: Launch, { machineType, zone }: LaunchCandidate): InstanceResource {
  const { spec, project, machine, machineClass, token } = launch;
  const own = ownerLabelsOf(spec, machine, machineClass, token);
  const { gpu, shieldedInstanceConfiguration: shielded, advancedMachineFeatures: advanced } = spec;
  return {
    name: machine.name,
    canIpForward: spec.canIpForward,
    deletionProtection: spec.deletionProtection,
    labels: allLabels(spec.labels, own),
    machineType: `zones/${zone}/machineTypes/${machineType}`,
    scheduling: schedulingOf(spec),
    tags: { items: [...spec.tags] },
    disks: spec.disks.map((disk) => diskOf(disk, zone, own)),
    metadata: { items: metadataOf(launch) },
    networkInterfaces: spec.networkInterfaces.map((card) => networkInterfaceOf(card, spec.region, project)),
    serviceAccounts: spec.serviceAccounts.map(({ email, scopes }) => ({ email, scopes: [...scopes] })),
    ...(spec.minCpuPlatform === undefined || spec.minCpuPlatform === "" ? {} : { minCpuPlatform: spec.minCpuPlatform }),
    ...(spec.description === undefined || spec.description === "" ? {} : { description: spec.description }),
    ...(gpu === undefined
      ? {}
      : {
          guestAccelerators: [
            {
              acceleratorType: `projects/${project}/zones/${zone}/acceleratorTypes/${gpu.acceleratorType}`,
              acceleratorCount: gpu.count,
            },
          ],
        }),
    ...(shielded === undefined
      ? {}
      : {
          shieldedInstanceConfig: {
            ...(shielded.integrityMonitoring === undefined
              ? {}
              : { enableIntegrityMonitoring: shielded.integrityMonitoring }),
            ...(shielded.secureBoot === undefined ? {} : { enableSecureBoot: shielded.secureBoot }),
            ...(shielded.vtpm === undefined ? {} : { enableVtpm: shielded.vtpm }),
          },
        }),
    ...(advanced === undefined
      ? {}
      : { advancedMachineFeatures: { enableNestedVirtualization: advanced.enableNestedVirtualization } }),
  };
}

function schedulingOf({ scheduling }: GcpSpec): NonNullable<InstanceResource["scheduling"]> {
  const { automaticRestart, onHostMaintenance, preemptible, provisioningModel, instanceTerminationAction } = scheduling;
  return {
    automaticRestart,
    onHostMaintenance,
    // Compute Engine rejects a spot VM with preemptible set to false.
    ...(provisioningModel === "SPOT" && !preemptible ? {} : { preemptible }),
    ...(provisioningModel === undefined ? {} : { provisioningModel }),
    ...(instanceTerminationAction === undefined ? {} : { instanceTerminationAction }),
  };
}

type AttachedDisk = NonNullable<InstanceResource["disks"]>[number];

function encryptionKeyOf({
  kmsKeyName,
  kmsKeyServiceAccount = "",
}: NonNullable<Disk["encryption"]>): NonNullable<AttachedDisk["diskEncryptionKey"]> {
  return { kmsKeyName, ...(kmsKeyServiceAccount === "" ? {} : { kmsKeyServiceAccount }) };
}

function diskOf(disk: Disk, zone: string, own: Readonly<Record<string, string>>): AttachedDisk {
  const isLocal = isScratch(disk);
  const { encryption } = disk;
  return {
    autoDelete: disk.autoDelete,
    boot: disk.boot && !isLocal,
    type: isLocal ? "SCRATCH" : "PERSISTENT",
    ...(isLocal ? { interface: disk.interface } : {}),
    initializeParams: {
      diskType: `zones/${zone}/diskTypes/${isLocal ? "local-ssd" : disk.type}`,
      // Local disks cannot have labels.
      ...(isLocal
        ? {}
        : { labels: allLabels(disk.labels, disk.autoDelete ? own : { [keptDiskLabel]: "true", ...own }) }),
      ...(disk.sizeGb === 0 ? {} : { diskSizeGb: disk.sizeGb }),
      ...(disk.image === "" ? {} : { sourceImage: disk.image }),
      ...(disk.provisionedIops === 0 ? {} : { provisionedIops: disk.provisionedIops }),
      ...(disk.provisionedThroughput === 0 ? {} : { provisionedThroughput: disk.provisionedThroughput }),
      ...(disk.storagePool === undefined || disk.storagePool === "" ? {} : { storagePool: disk.storagePool }),
    },
    ...(encryption === undefined ? {} : { diskEncryptionKey: encryptionKeyOf(encryption) }),
  };
}

type NetworkInterfaceResource = NonNullable<InstanceResource["networkInterfaces"]>[number];

function networkInterfaceOf(card: NetworkInterface, region: string, project: string): NetworkInterfaceResource {
  const hasOptions = card.stackType === "IPV4_IPV6" || card.useAliasIPs;
  return {
    ...(card.disableExternalIP ? {} : { accessConfigs: [{}] }),
    ...(card.network === "" ? {} : { network: networkPathOf(card.network, project) }),
    ...(card.subnetwork === "" ? {} : { subnetwork: subnetworkPathOf(card.subnetwork, project, region) }),
    ...(hasOptions
      ? {
          ...(card.stackType === "" ? {} : { stackType: card.stackType }),
          ...(card.ipv6accessType === "" ? {} : { ipv6AccessType: card.ipv6accessType }),
          aliasIpRanges: [
            {
              ...(card.ipCidrRange === "" ? {} : { ipCidrRange: card.ipCidrRange }),
              ...(card.subnetworkRangeName === "" ? {} : { subnetworkRangeName: card.subnetworkRangeName }),
            },
          ],
        }
      : {}),
  };
}

interface MetadataItem {
  readonly key: string;
  readonly value?: string;
}

/** User data first, under the key that its reader in the image uses, then the metadata of the class. */
function metadataOf({ spec, machine, userData }: Launch): MetadataItem[] {
  const given = spec.metadata.map(({ key, value }) => ({ key, ...(value === undefined ? {} : { value }) }));
  const bytes = userData.revealBytes();
  if (bytes.length === 0) return given;
  const text = userData.reveal();
  const at = `the user data of machine "${machine.name}" (key "${userDataKey}" of the class secret)`;
  if (bytes.length > longestUserData) {
    throw new MachineError(
      "InvalidArgument",
      `${at} has ${bytes.length} bytes, Compute Engine takes ${longestUserData}`,
    );
  }
  if (!Buffer.from(text, "utf8").equals(bytes)) {
    throw new MachineError("InvalidArgument", `${at} must be UTF-8: metadata of Compute Engine are texts`);
  }
  const key = text.startsWith("#cloud-config") ? "user-data" : "startup-script";
  const double = given.findIndex((item) => item.key === key);
  if (double >= 0) {
    throw new MachineError(
      "InvalidArgument",
      `providerSpec.metadata[${double}].key: must not be ${key}, which has the value of ${at}`,
    );
  }
  return [{ key, value: text }, ...given];
}
