import { type CloudInstance, uuidOf } from "./cloud-instance.ts";

/** An instance as `instances.get` shows it. */
export interface GceInstance {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly zone: string;
  /** The last part of its URL. */
  readonly machineType: string;
  readonly networkIp: string;
  readonly externalIps: readonly string[];
  readonly isRunning: boolean;
}

/**
 * The Node of a Compute Engine instance. Sources: kubernetes/cloud-provider-gcp, providers/gce — `InstanceID` in gce_instances.go with
 * `GetInstanceProviderID` of kubernetes/cloud-provider gives a provider id with two slashes, which `splitProviderID` in gce_util.go
 * insists on; `nodeAddressesFromInstance` the addresses; `GetGCERegion` the region.
 */
export function gceNode(instance: GceInstance): CloudInstance {
  const { id, name, project, zone, machineType, networkIp, externalIps, isRunning } = instance;
  return {
    nodeName: name,
    systemUuid: uuidOf(id),
    isRunning,
    providerId: `gce://${project}/${zone}/${name}`,
    zone,
    region: zone.slice(0, zone.lastIndexOf("-")),
    instanceType: machineType,
    addresses: [
      { type: "InternalIP", address: networkIp },
      ...externalIps.map((address) => ({ type: "ExternalIP", address }) as const),
    ],
  };
}

/** What MCM's driver writes into `spec.providerID` of the Machine: `encodeMachineID` in pkg/gcp of gardener/machine-controller-manager-provider-gcp. */
export const gceMachineId = ({ providerId }: CloudInstance): string => providerId.replace("gce://", "gce:///");
