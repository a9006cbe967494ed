import type {
  DescribeInstancesCommandInput,
  Image,
  Instance,
  InstanceTypeInfo,
  RunInstancesCommandInput,
  SecurityGroup,
  Subnet,
} from "@aws-sdk/client-ec2";
import type { Page } from "@millwright/core/driver-kit";
import type { ApiService } from "./api-call.ts";

/** The requests that the driver makes. They reject with what the SDK threw, and with the signal's reason when it aborts. */
export interface Ec2Api {
  describeImage(ami: string, signal: AbortSignal): Promise<Image | undefined>;
  /** Makes one instance. */
  runInstance(input: RunInstancesCommandInput, signal: AbortSignal): Promise<Instance | undefined>;
  describeInstances(
    service: ApiService,
    input: DescribeInstancesCommandInput,
    signal: AbortSignal,
  ): Promise<Page<Instance>>;
  terminateInstance(instanceId: string, signal: AbortSignal): Promise<void>;
  disableSourceDestCheck(networkInterfaceId: string, signal: AbortSignal): Promise<void>;
  assignIpv6Prefixes(networkInterfaceId: string, count: number, signal: AbortSignal): Promise<void>;
  describeInstanceType(name: string, signal: AbortSignal): Promise<InstanceTypeInfo | undefined>;
  describeSubnet(subnetId: string, signal: AbortSignal): Promise<Subnet | undefined>;
  describeSecurityGroups(groupIds: readonly string[], signal: AbortSignal): Promise<readonly SecurityGroup[]>;
  /** Whether a type of instances is sold in a zone. */
  isOffered(instanceType: string, zone: string, signal: AbortSignal): Promise<boolean>;
  /** Resolves when EC2 would have accepted the launch; nothing is made. */
  dryRunLaunch(input: RunInstancesCommandInput, signal: AbortSignal): Promise<void>;
  /** Resolves when EC2 would have listed instances. */
  dryRunList(signal: AbortSignal): Promise<void>;
  /** Resolves when EC2 would have terminated the instance; it stays as it is. */
  dryRunTerminate(instanceId: string, signal: AbortSignal): Promise<void>;
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}
