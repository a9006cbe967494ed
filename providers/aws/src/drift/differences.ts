import type { Instance, InstanceNetworkInterface } from "@aws-sdk/client-ec2";
import type { VmDifference } from "@millwright/core";
import { type Compare, differencesFound } from "@millwright/core/driver-kit";
import { candidatesOf } from "../launch/launch.ts";
import { placeOf } from "../spec/network-interfaces.ts";
import { type AwsSpec, nameTag } from "../spec/spec.ts";
import type { Tags } from "../vm/owner-tags.ts";

/** The differences between a spec and an instance. A field that EC2 does not return is not a difference. */
export function differencesOf(spec: AwsSpec, instance: Instance, tags: Tags): readonly VmDifference[] {
  return differencesFound((compare) => {
    const types = candidatesOf(spec).map(({ machineType }) => machineType);
    if (!types.includes(instance.InstanceType ?? "")) compare("machineType", spec.machineType, instance.InstanceType);
    compare("ami", spec.ami, instance.ImageId);
    compare("keyName", spec.keyName, instance.KeyName ?? "");
    compare("ebsOptimized", spec.ebsOptimized ? true : undefined, instance.EbsOptimized);
    compareProfile(spec, instance, compare);
    compareMarket(spec, instance, compare);
    compareMetadata(spec, instance, compare);
    compareInterfaces(spec, instance, compare);
    for (const key of Object.keys(spec.tags)) {
      if (key !== nameTag) compare(`tags.${key}`, spec.tags[key], tags.get(key) ?? "");
    }
  });
}

function compareProfile({ iam }: AwsSpec, { IamInstanceProfile }: Instance, compare: Compare): void {
  const arn = IamInstanceProfile?.Arn ?? "";
  if (iam.arn !== undefined) compare("iam.arn", iam.arn, arn);
  else compare("iam.name", iam.name, arn.slice(arn.lastIndexOf("/") + 1));
}

function compareMarket(spec: AwsSpec, { InstanceLifecycle }: Instance, compare: Compare): void {
  const { instanceMarketOptions, spotPrice } = spec;
  const isSpot =
    instanceMarketOptions === undefined ? spotPrice !== undefined : instanceMarketOptions.marketType === "spot";
  const field = instanceMarketOptions === undefined ? "spotPrice" : "instanceMarketOptions.marketType";
  if (isSpot) compare(field, "spot", InstanceLifecycle ?? "");
  else if (InstanceLifecycle === "spot") compare(field, "", InstanceLifecycle);
}

function compareMetadata(
  { instanceMetadataOptions: given }: AwsSpec,
  { MetadataOptions }: Instance,
  compare: Compare,
): void {
  if (given === undefined) return;
  const field = (name: string): string => `instanceMetadataOptions.${name}`;
  compare(field("httpEndpoint"), given.httpEndpoint, MetadataOptions?.HttpEndpoint);
  compare(field("httpPutResponseHopLimit"), given.httpPutResponseHopLimit, MetadataOptions?.HttpPutResponseHopLimit);
  compare(field("httpTokens"), given.httpTokens, MetadataOptions?.HttpTokens);
  compare(field("httpProtocolIpv6"), given.httpProtocolIpv6, MetadataOptions?.HttpProtocolIpv6);
  compare(field("instanceMetadataTags"), given.instanceMetadataTags, MetadataOptions?.InstanceMetadataTags);
}

function compareInterfaces(spec: AwsSpec, { NetworkInterfaces }: Instance, compare: Compare): void {
  if (NetworkInterfaces === undefined) return;
  const fallbacks = new Set(candidatesOf(spec).flatMap(({ subnetId }) => subnetId ?? []));
  for (const [index, card] of spec.networkInterfaces.entries()) {
    const place = placeOf(card, index);
    const found = NetworkInterfaces.find(
      ({ Attachment }) =>
        Attachment?.DeviceIndex === place.deviceIndex && (Attachment.NetworkCardIndex ?? 0) === place.networkCardIndex,
    );
    const at = `networkInterfaces[${index}]`;
    if (found === undefined) {
      compare(at, card.subnetID, "");
      continue;
    }
    if (!fallbacks.has(found.SubnetId ?? "")) compare(`${at}.subnetID`, card.subnetID, found.SubnetId);
    compare(`${at}.securityGroupIDs`, [...card.securityGroupIDs].toSorted().join(","), groupsOf(found));
    const isEfa = found.InterfaceType?.startsWith("efa") === true;
    if (spec.srcAndDstChecksEnabled === false && !isEfa)
      compare(`${at}.srcAndDstChecksEnabled`, false, found.SourceDestCheck);
  }
}

const groupsOf = ({ Groups = [] }: InstanceNetworkInterface): string =>
  Groups.map(({ GroupId = "" }) => GroupId)
    .toSorted()
    .join(",");
