import type { AzureSpec } from "../spec/spec.ts";

const idOf = (subscriptionId: string, group: string, type: string, name: string): string =>
  `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/${type}/${name}`;

/** Ids of what is made for a machine, before it is made. */
export const nicIdOf = (subscriptionId: string, { resourceGroup }: AzureSpec, name: string): string =>
  idOf(subscriptionId, resourceGroup, "Microsoft.Network/networkInterfaces", name);

/** @see nicIdOf */
export const diskIdOf = (subscriptionId: string, { resourceGroup }: AzureSpec, name: string): string =>
  idOf(subscriptionId, resourceGroup, "Microsoft.Compute/disks", name);

/** The id of the subnet of a class. */
export function subnetIdOf(subscriptionId: string, { resourceGroup, subnetInfo }: AzureSpec): string {
  const { vnetName, subnetName, vnetResourceGroup = "" } = subnetInfo;
  const group = vnetResourceGroup.trim() === "" ? resourceGroup : vnetResourceGroup;
  return `${idOf(subscriptionId, group, "Microsoft.Network/virtualNetworks", vnetName)}/subnets/${subnetName}`;
}

/** The id of an image of the marketplace, for disks that start from one. */
export const marketplaceImageId = (
  subscriptionId: string,
  location: string,
  { publisher, offer, sku, version }: Readonly<Record<"publisher" | "offer" | "sku" | "version", string>>,
): string =>
  `/Subscriptions/${subscriptionId}/Providers/Microsoft.Compute/Locations/${location}/Publishers/${publisher}/ArtifactTypes/VMImage/Offers/${offer}/Skus/${sku}/Versions/${version}`;
