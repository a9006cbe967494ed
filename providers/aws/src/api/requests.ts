import type {
  DescribeInstancesCommandInput,
  Instance,
  InstanceTypeInfo,
  RunInstancesCommandInput,
} from "@aws-sdk/client-ec2";
import type { Page } from "@millwright/core/driver-kit";
import type { ApiService } from "./api-call.ts";

/** The requests that the driver makes. They reject with what the SDK threw, and with the signal's reason when it aborts. */
export interface Ec2Api {
  describeImage(ami: string, signal: AbortSignal): Promise<{ readonly rootDeviceName: string | undefined } | undefined>;
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
  /** The zone of a subnet. */
  describeSubnetZone(subnetId: string, signal: AbortSignal): Promise<string | undefined>;
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}
