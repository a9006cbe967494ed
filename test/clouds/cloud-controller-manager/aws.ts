import { type CloudInstance, type NodeAddress, uuidOf } from "./cloud-instance.ts";

/** An instance as `DescribeInstances` shows it. */
export interface Ec2Instance {
  readonly id: string;
  readonly region: string;
  readonly availabilityZone: string;
  readonly instanceType: string;
  readonly privateDnsName: string;
  readonly privateIp: string;
  readonly publicIp?: string | undefined;
  readonly isRunning: boolean;
}

/**
 * The Node of an EC2 instance. Sources: kubernetes/cloud-provider-aws, pkg/providers/v1 — `InstanceID` in aws.go has the availability
 * zone in the provider id, `extractIPv4NodeAddresses` the addresses, `mapInstanceToNodeName` the name. That the system UUID begins
 * with `ec2` and has no relation to the instance id: Amazon EC2 User Guide, "Detect whether a host is an EC2 instance".
 */
export function ec2Node(instance: Ec2Instance): CloudInstance {
  const { id, region, availabilityZone, instanceType, privateDnsName, privateIp, publicIp, isRunning } = instance;
  const external: readonly NodeAddress[] = publicIp === undefined ? [] : [{ type: "ExternalIP", address: publicIp }];
  return {
    nodeName: privateDnsName,
    systemUuid: `ec2${uuidOf(id).slice(3)}`,
    isRunning,
    providerId: `aws:///${availabilityZone}/${id}`,
    zone: availabilityZone,
    region,
    instanceType,
    addresses: [
      { type: "InternalIP", address: privateIp },
      ...external,
      { type: "InternalDNS", address: privateDnsName },
      { type: "Hostname", address: privateDnsName },
    ],
  };
}

/** What MCM's driver writes into `spec.providerID` of the Machine: `encodeInstanceID` in pkg/aws of gardener/machine-controller-manager-provider-aws. */
export const ec2MachineId = ({ region, providerId }: CloudInstance): string =>
  `aws:///${region}/${providerId.slice(providerId.lastIndexOf("/") + 1)}`;
