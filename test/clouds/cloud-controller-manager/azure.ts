import type { CloudInstance } from "./cloud-instance.ts";

/** A VM as Azure Resource Manager shows it. */
export interface AzureVm {
  /** Resource id, in the case in which the VM was created. */
  readonly id: string;
  readonly vmId: string;
  readonly computerName: string;
  readonly location: string;
  /** Availability zones of the VM; empty for a VM without one. */
  readonly zones: readonly string[];
  readonly vmSize: string;
  readonly privateIp: string;
  readonly isRunning: boolean;
}

const resourceGroup = /(?<=\/resourceGroups\/)[^/]+/i;

/**
 * The Node of an Azure VM, also of an instance of a scale set. Sources: kubernetes-sigs/cloud-provider-azure, pkg/provider —
 * `GetInstanceIDByNodeName` in azure_standard.go and azure_vmss.go with `ConvertResourceGroupNameToLower` in azure_wrap.go gives the
 * provider id, where the name of the resource group alone is in lower case; `GetZoneByNodeName` zone and region, where a VM without
 * zone is in its fault domain; azure_vmss.go and azure_vmssflex.go the name, which is the computer name in lower case.
 */
export function azureNode(vm: AzureVm): CloudInstance {
  const { id, vmId, computerName, location, zones, vmSize, privateIp, isRunning } = vm;
  const nodeName = computerName.toLowerCase();
  const region = location.toLowerCase();
  return {
    nodeName,
    systemUuid: vmId,
    isRunning,
    providerId: `azure://${id.replace(resourceGroup, (group) => group.toLowerCase())}`,
    zone: zones[0] === undefined ? "0" : `${region}-${zones[0]}`,
    region,
    instanceType: vmSize,
    addresses: [
      { type: "InternalIP", address: privateIp },
      { type: "Hostname", address: nodeName },
    ],
  };
}

/** What MCM's driver writes into `spec.providerID` of the Machine: `DeriveInstanceID` in pkg/azure of gardener/machine-controller-manager-provider-azure. */
export const azureMachineId = ({ region, providerId }: CloudInstance): string =>
  `azure:///${region}/${providerId.slice(providerId.lastIndexOf("/") + 1)}`;
