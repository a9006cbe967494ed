import type { EC2Client, InstanceTypeInfo } from "@aws-sdk/client-ec2";
import { type ApiCall, type Clock, orAborted, type Random } from "@millwright/core";
import { createRequestSender, type SessionResources } from "@millwright/core/driver-kit";
import { createEgressAgents, type Environment } from "@millwright/core/egress";
import type { AwsCredentials } from "../spec/secret.ts";
import { limitAnswers } from "./answer-limits.ts";
import { actions, type ApiService } from "./api-call.ts";
import { readAttemptFailure } from "./attempt-failure.ts";
import { credentialsFor } from "./credential-source.ts";
import { hasErrorCode } from "./errors.ts";
import { recordExchanges } from "./record-exchanges.ts";
import type { Ec2Api } from "./requests.ts";

/** Options of {@link createEc2Api}. */
export interface Ec2ApiOptions {
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Address of EC2 and STS, for tests. Default: that of the region, or that of the environment (`AWS_ENDPOINT_URL_EC2`). */
  readonly endpoint?: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Takes every attempt of a request that has ended. Must not throw. */
  readonly reportApiCall?: (call: ApiCall) => void;
  /** How long EC2 may take until an answer begins, and then until it is complete, milliseconds. Default 30 s. */
  readonly requestTimeoutMs?: number;
  /** Requests under way at once. Default 20. */
  readonly maxInFlight?: number;
  /** Environment variables, which name the proxy. */
  readonly env: Environment;
  readonly recorder: SessionResources["recorder"];
}

const defaultRequestTimeoutMs = 30_000;
const connectionTimeoutMs = 5_000;

/** The SDK, loaded when it is first needed: it takes 0.3 s and 70 MB. */
const loadSdk = (): Promise<typeof import("@aws-sdk/client-ec2")> => import("@aws-sdk/client-ec2");

/** Creates the requests of one region and credential. The client behind them is made with the first one. */
export function createEc2Api(options: Ec2ApiOptions): Ec2Api {
  const { region, endpoint, clock, random, reportApiCall, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const sendRequest = createRequestSender({
    cloud: "EC2",
    clock,
    random,
    reportApiCall,
    maxInFlight: options.maxInFlight,
    readFailure: readAttemptFailure,
  });
  let client: EC2Client | undefined;
  let isClosed = false;

  const clientOf = (sdk: typeof import("@aws-sdk/client-ec2")): EC2Client => {
    client ??= makeClient(sdk);
    if (isClosed) client.destroy();
    return client;
  };

  const makeClient = (sdk: typeof import("@aws-sdk/client-ec2")): EC2Client => {
    const agents = createEgressAgents({ keepAlive: true, maxSockets: 50 }, options.env);
    const made = new sdk.EC2Client({
      region,
      credentials: credentialsFor(options),
      // Requests are repeated by their sender, for all machines together.
      maxAttempts: 1,
      // STS is asked over the same connections.
      requestHandler: {
        httpAgent: agents.http,
        httpsAgent: agents.https,
        connectionTimeout: connectionTimeoutMs,
        requestTimeout: requestTimeoutMs,
        // Without it the SDK prints a warning and waits on.
        throwOnRequestTimeout: true,
      },
      ...(endpoint === undefined ? {} : { endpoint }),
    });
    recordExchanges(made, options.recorder, clock);
    limitAnswers(made, { clock, timeMs: requestTimeoutMs });
    return made;
  };

  /** One request. */
  const request = async <Output>(
    service: ApiService,
    signal: AbortSignal,
    send: (sdk: typeof import("@aws-sdk/client-ec2"), client: EC2Client) => Promise<Output>,
  ): Promise<Output> => {
    const sdk = await loadSdk();
    const sender = clientOf(sdk);
    // The SDK does not look at the signal while it gets credentials.
    return sendRequest({ service, action: actions[service], signal }, () => orAborted(signal, send(sdk, sender)));
  };

  /** A request with `DryRun`: EC2 answers the error `DryRunOperation` where it would have done it. */
  const dryRun = async (...call: Parameters<typeof request<unknown>>): Promise<void> => {
    try {
      await request(...call);
    } catch (error) {
      if (!hasErrorCode(error, "DryRunOperation")) throw error;
    }
  };

  return {
    async describeImage(ami, signal) {
      const { Images = [] } = await request("image_get", signal, (sdk, client) =>
        client.send(new sdk.DescribeImagesCommand({ ImageIds: [ami] }), { abortSignal: signal }),
      );
      return Images[0];
    },
    async runInstance(input, signal) {
      const { Instances = [] } = await request("instance_create", signal, (sdk, client) =>
        client.send(new sdk.RunInstancesCommand(input), { abortSignal: signal }),
      );
      return Instances[0];
    },
    async describeInstances(service, input, signal) {
      const { Reservations = [], NextToken } = await request(service, signal, (sdk, client) =>
        client.send(new sdk.DescribeInstancesCommand(input), { abortSignal: signal }),
      );
      return {
        items: Reservations.flatMap(({ Instances = [] }) => Instances),
        nextPageToken: NextToken === "" ? undefined : NextToken,
      };
    },
    async terminateInstance(instanceId, signal) {
      await request("instance_terminate", signal, (sdk, client) =>
        client.send(new sdk.TerminateInstancesCommand({ InstanceIds: [instanceId] }), { abortSignal: signal }),
      );
    },
    async disableSourceDestCheck(networkInterfaceId, signal) {
      const input = { NetworkInterfaceId: networkInterfaceId, SourceDestCheck: { Value: false } };
      await request("instance_disable_source_dest_check", signal, (sdk, client) =>
        client.send(new sdk.ModifyNetworkInterfaceAttributeCommand(input), { abortSignal: signal }),
      );
    },
    async assignIpv6Prefixes(networkInterfaceId, count, signal) {
      const input = { NetworkInterfaceId: networkInterfaceId, Ipv6PrefixCount: count };
      await request("instance_assign_ipv6_prefixes", signal, (sdk, client) =>
        client.send(new sdk.AssignIpv6AddressesCommand(input), { abortSignal: signal }),
      );
    },
    async describeInstanceType(name, signal) {
      const { InstanceTypes = [] } = await request("instance_type_get", signal, (sdk, client) =>
        client.send(
          // The SDK's list of types is older than the newest one.
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion
          new sdk.DescribeInstanceTypesCommand({ InstanceTypes: [name as InstanceTypeName] }),
          { abortSignal: signal },
        ),
      );
      return InstanceTypes[0];
    },
    async describeSubnet(subnetId, signal) {
      const { Subnets = [] } = await request("subnet_get", signal, (sdk, client) =>
        client.send(new sdk.DescribeSubnetsCommand({ SubnetIds: [subnetId] }), { abortSignal: signal }),
      );
      return Subnets[0];
    },
    async describeSecurityGroups(groupIds, signal) {
      const { SecurityGroups = [] } = await request("security_group_get", signal, (sdk, client) =>
        client.send(new sdk.DescribeSecurityGroupsCommand({ GroupIds: [...groupIds] }), { abortSignal: signal }),
      );
      return SecurityGroups;
    },
    async isOffered(instanceType, zone, signal) {
      const Filters = [
        { Name: "instance-type", Values: [instanceType] },
        { Name: "location", Values: [zone] },
      ];
      const { InstanceTypeOfferings = [] } = await request("instance_type_offering_get", signal, (sdk, client) =>
        client.send(new sdk.DescribeInstanceTypeOfferingsCommand({ LocationType: "availability-zone", Filters }), {
          abortSignal: signal,
        }),
      );
      return InstanceTypeOfferings.length > 0;
    },
    dryRunLaunch: (input, signal) =>
      dryRun("instance_create_dry_run", signal, (sdk, client) =>
        client.send(new sdk.RunInstancesCommand({ ...input, DryRun: true }), { abortSignal: signal }),
      ),
    dryRunList: (signal) =>
      dryRun("instance_get_dry_run", signal, (sdk, client) =>
        client.send(new sdk.DescribeInstancesCommand({ DryRun: true }), { abortSignal: signal }),
      ),
    dryRunTerminate: (instanceId, signal) =>
      dryRun("instance_terminate_dry_run", signal, (sdk, client) =>
        client.send(new sdk.TerminateInstancesCommand({ InstanceIds: [instanceId], DryRun: true }), {
          abortSignal: signal,
        }),
      ),
    close() {
      isClosed = true;
      client?.destroy();
    },
  };
}

type InstanceTypeName = NonNullable<InstanceTypeInfo["InstanceType"]>;
