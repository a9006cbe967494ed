import {
  AssignIpv6AddressesCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeVolumesCommand,
  type EC2Client,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { Secret, systemClock } from "@millwright/base";
import type { CreateMachineRequest, DriverContext } from "@millwright/core";
import { type ImmediateDriver, withoutPending } from "@millwright/core/testing";
import { type AwsSpec, awsSpecSchema, createAwsDriver } from "@millwright/provider-aws";
import { clientOf, type Ec2Server, region } from "./ec2-servers.ts";

/** What a scenario works with. */
interface Stage {
  readonly driver: ImmediateDriver<AwsSpec>;
  readonly client: EC2Client;
  readonly context: DriverContext;
  request(name: string, spec?: Readonly<Record<string, unknown>>): CreateMachineRequest<AwsSpec>;
  /** Parameters of a plain launch without the driver. */
  launch(more?: object): ConstructorParameters<typeof RunInstancesCommand>[0];
}

/** Requests and the observed result, which is the same on every faithful server. */
export interface Scenario {
  readonly name: string;
  /** The documented result of EC2. */
  readonly expected: unknown;
  run(stage: Stage): Promise<unknown>;
}

/** The name of a call's error; `fine` when it succeeds. */
const failure = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "fine",
    (error: unknown) => {
      const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
      return typeof code === "string" ? code : error instanceof Error ? error.name : "something else";
    },
  );

const idOf = (providerId: string): string => providerId.split("/").at(-1) ?? "";
const keysOf = (tags: readonly { readonly Key?: string | undefined }[] = []): readonly string[] =>
  tags.map(({ Key = "" }) => Key).toSorted((a, b) => a.localeCompare(b));

const ownerKeys = [
  "kubernetes.io/cluster/shoot",
  "kubernetes.io/role/node",
  "millwright.dev/machine-class",
  "millwright.dev/machine-uid",
  "millwright.dev/managed-by",
  "millwright.dev/namespace",
  "millwright.dev/spec-hash",
  "millwright.dev/token",
  "Name",
];

/** Scenarios for our emulator and moto, through the driver or the unmodified SDK. */
export const scenarios: readonly Scenario[] = [
  {
    name: "a VM is made, found, listed, and gone after its deletion",
    expected: { isSame: true, isNamed: true, listed: [1, 0], status: "NotFound" },
    async run({ driver, context, request }) {
      const made = await driver.createMachine(request("life"), context);
      const found = await driver.getMachineStatus(request("life"), context);
      const before = await driver.listMachines?.(request("life"), context);
      await driver.deleteMachine(request("life"), context);
      const after = await driver.listMachines?.(request("life"), context);
      const named = (list: typeof before) => list?.machines.filter(({ machineName }) => machineName === "life").length;
      return {
        isSame: made.providerId === found.providerId,
        isNamed: made.nodeName.startsWith("ip-"),
        listed: [named(before), named(after)],
        status: await failure(driver.getMachineStatus(request("life"), context)),
      };
    },
  },
  {
    name: "VM, volume and interface carry the tags of their owner",
    expected: { instance: ownerKeys, volume: ownerKeys, networkInterface: ownerKeys },
    async run({ driver, client, context, request }) {
      const { providerId } = await driver.createMachine(request("tags"), context);
      const Filters = [{ Name: "tag:Name", Values: ["tags"] }];
      const instances = await client.send(new DescribeInstancesCommand({ InstanceIds: [idOf(providerId)] }));
      const volumes = await client.send(new DescribeVolumesCommand({ Filters }));
      const interfaces = await client.send(new DescribeNetworkInterfacesCommand({ Filters }));
      return {
        instance: keysOf(instances.Reservations?.[0]?.Instances?.[0]?.Tags),
        volume: keysOf(volumes.Volumes?.[0]?.Tags),
        networkInterface: keysOf(interfaces.NetworkInterfaces?.[0]?.TagSet),
      };
    },
  },
  {
    name: "a client token means the same VM",
    expected: true,
    async run({ client, launch }) {
      const run = async () =>
        (await client.send(new RunInstancesCommand(launch({ ClientToken: "t-1" })))).Instances?.[0]?.InstanceId;
      return (await run()) === (await run());
    },
  },
  {
    name: "a client token with other parameters is refused",
    expected: "IdempotentParameterMismatch",
    async run({ client, launch }) {
      await client.send(new RunInstancesCommand(launch({ ClientToken: "t-2" })));
      return failure(client.send(new RunInstancesCommand(launch({ ClientToken: "t-2", UserData: "YQ==" }))));
    },
  },
  {
    name: "of two filters for tag keys both count",
    expected: 0,
    async run({ client, launch }) {
      const tagged = (Key: string) => ({
        TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key, Value: "1" }] }],
      });
      for (const key of ["filter-a", "filter-b"]) await client.send(new RunInstancesCommand(launch(tagged(key))));
      const Filters = ["filter-a", "filter-b"].map((key) => ({ Name: "tag-key", Values: [key] }));
      return (await client.send(new DescribeInstancesCommand({ Filters }))).Reservations?.length ?? 0;
    },
  },
  ...(
    [
      ["image", { ami: "ami-00000000000000000" }],
      ["machine type", { machineType: "m5.tiny" }],
      ["subnet", { networkInterfaces: [{ subnetID: "subnet-00000000000000000", securityGroupIDs: ["sg-1"] }] }],
      ["instance profile", { iam: { name: "missing" } }],
      ["key pair", { keyName: "nothing" }],
    ] as const
  ).map(([what, spec]): Scenario => ({
    name: `a launch with an unknown ${what}`,
    expected: "InvalidArgument",
    run: ({ driver, context, request }) =>
      failure(driver.createMachine(request(`no-${what.replace(" ", "-")}`, spec), context)),
  })),
  {
    name: "an instance that never was is not found",
    expected: "InvalidInstanceID.NotFound",
    run: ({ client }) => failure(client.send(new DescribeInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"] }))),
  },
  {
    name: "an id that is none is malformed",
    expected: "InvalidInstanceID.Malformed",
    run: ({ client }) => failure(client.send(new DescribeInstancesCommand({ InstanceIds: ["nonsense"] }))),
  },
  {
    name: "ids and a page size do not go together",
    expected: "InvalidParameterCombination",
    run: ({ client }) =>
      failure(client.send(new DescribeInstancesCommand({ InstanceIds: ["i-0123456789abcdef0"], MaxResults: 5 }))),
  },
  {
    name: "an instance is terminated twice",
    expected: "fine",
    async run({ client, launch }) {
      const made = await client.send(new RunInstancesCommand(launch()));
      const InstanceIds = [made.Instances?.[0]?.InstanceId ?? ""];
      await client.send(new TerminateInstancesCommand({ InstanceIds }));
      return failure(client.send(new TerminateInstancesCommand({ InstanceIds })));
    },
  },
  {
    name: "source checks are switched off",
    expected: [false, true],
    async run({ driver, context, request }) {
      const wanted = request("checks", { srcAndDstChecksEnabled: false });
      await driver.createMachine(wanted, context);
      const before = (await driver.getMachineStatus(wanted, context)).initialized;
      await driver.initializeMachine?.(wanted, context);
      return [before, (await driver.getMachineStatus(wanted, context)).initialized];
    },
  },
  {
    name: "prefixes are assigned",
    expected: 2,
    async run({ client, driver, context, request }) {
      const { providerId } = await driver.createMachine(request("prefixes"), context);
      const card = async () => {
        const found = await client.send(new DescribeInstancesCommand({ InstanceIds: [idOf(providerId)] }));
        return found.Reservations?.[0]?.Instances?.[0]?.NetworkInterfaces?.[0];
      };
      const NetworkInterfaceId = (await card())?.NetworkInterfaceId ?? "";
      await client.send(new AssignIpv6AddressesCommand({ NetworkInterfaceId, Ipv6PrefixCount: 2 }));
      return (await card())?.Ipv6Prefixes?.length ?? 0;
    },
  },
  {
    name: "a spot VM is shown as one, and has not drifted",
    expected: [],
    async run({ driver, context, request }) {
      const wanted = request("spot", { spotPrice: "" });
      await driver.createMachine(wanted, context);
      return (await driver.findDrift?.(wanted, context))?.differences;
    },
  },
  {
    name: "a type is described",
    expected: {
      architecture: "amd64",
      capacity: { cpu: 2, gpu: 0, memory: "8192Mi" },
      instanceType: "m5.large",
      region,
    },
    async run({ driver, context, request }) {
      const { nodeTemplate } = (await driver.getNodeTemplate?.(request("type"), context)) ?? {};
      return { ...nodeTemplate, zone: undefined };
    },
  },
];

/** Runs all scenarios on a server; returns the observed results by name. */
export async function runScenarios(server: Ec2Server): Promise<ReadonlyMap<string, unknown>> {
  const client = clientOf(server.url);
  const spec = {
    ami: server.ami,
    region,
    machineType: "m5.large",
    iam: { name: "nodes" },
    blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
    networkInterfaces: [{ subnetID: server.subnet, securityGroupIDs: [server.securityGroup] }],
    tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
  };
  const secret = { accessKeyID: Secret.of("AKIA1"), secretAccessKey: Secret.of("secret"), userData: Secret.of("boot") };
  const stage: Stage = {
    client,
    driver: withoutPending(
      createAwsDriver({ endpoint: server.url, pollTimes: { visibleMs: 2_000, lookAgainMs: 20, pollMs: 20 } }),
    ),
    context: { signal: AbortSignal.timeout(60_000), clock: systemClock, log: () => undefined },
    request: (name, more = {}) => ({
      machine: { name, namespace: "shoot", uid: `uid-of-${name}` },
      machineClass: { name: "pool", spec: awsSpecSchema.parse({ ...spec, ...more }) },
      secret,
      idempotencyToken: `token-of-${name}`,
      userData: Secret.of("boot"),
    }),
    launch: (more = {}) => ({
      MinCount: 1,
      MaxCount: 1,
      ImageId: server.ami,
      InstanceType: "m5.large",
      NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: server.subnet, Groups: [server.securityGroup] }],
      ...more,
    }),
  };
  const seen = new Map<string, unknown>();
  for (const { name, run } of scenarios) {
    seen.set(name, await run(stage).catch((error: unknown) => `threw ${error instanceof Error ? error.message : ""}`));
  }
  client.destroy();
  return seen;
}
