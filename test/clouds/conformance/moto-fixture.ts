import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeVolumesCommand,
  type EC2Client,
  type Instance,
} from "@aws-sdk/client-ec2";
import { defineFixture } from "@millwright/conformance";
import { createAwsDriver, ownerTagKeys } from "@millwright/provider-aws";
import { ec2MachineId, ec2Node } from "../cloud-controller-manager/aws.ts";
import { clientOf, region, startMoto } from "../ec2-servers.ts";
import { errorAnswer } from "./ec2-fixture.ts";
import { nodeForms } from "./node-forms.ts";

const pollTimes = { visibleMs: 10_000, lookAgainMs: 100, pollMs: 10 };

const nameOf = ({ Tags = [] }: Instance): string => Tags.find(({ Key }) => Key === ownerTagKeys.name)?.Value ?? "";

/** Reads the cloud through the unmodified SDK. */
function readerOf(client: EC2Client) {
  const instances = async (): Promise<readonly Instance[]> => {
    const { Reservations = [] } = await client.send(new DescribeInstancesCommand({}));
    return Reservations.flatMap(({ Instances = [] }) => Instances).filter(({ State }) => State?.Name !== "terminated");
  };
  const userDataOf = async (InstanceId: string): Promise<Buffer> => {
    const { UserData } = await client.send(new DescribeInstanceAttributeCommand({ InstanceId, Attribute: "userData" }));
    return Buffer.from(UserData?.Value ?? "", "base64");
  };
  return {
    instances,
    inventory: async () =>
      Promise.all(
        (await instances()).map(async (instance) => ({
          id: instance.InstanceId ?? "",
          machineName: nameOf(instance),
          tags: Object.fromEntries((instance.Tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value])),
          userData: await userDataOf(instance.InstanceId ?? ""),
        })),
      ),
    async resources() {
      const { Volumes = [] } = await client.send(new DescribeVolumesCommand({}));
      const { NetworkInterfaces = [] } = await client.send(new DescribeNetworkInterfacesCommand({}));
      return [
        ...(await instances()).map(({ InstanceId = "" }) => InstanceId),
        ...Volumes.map(({ VolumeId = "" }) => VolumeId),
        ...NetworkInterfaces.map(({ NetworkInterfaceId = "" }) => NetworkInterfaceId),
      ];
    },
  };
}

/** A third-party EC2 server, which knows neither client tokens nor which credentials are valid. */
export const motoFixture = defineFixture(async () => {
  const moto = await startMoto();
  const client = clientOf(moto.url);
  const spec = {
    ami: moto.ami,
    region,
    machineType: "m5.large",
    srcAndDstChecksEnabled: false,
    iam: { name: "nodes" },
    blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
    networkInterfaces: [{ subnetID: moto.subnet, securityGroupIDs: [moto.securityGroup] }],
    tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
  };
  const classOf = (change: object = {}) => ({ name: "pool", providerSpec: { ...spec, ...change } });
  const createDriver = (endpoint = moto.url) => createAwsDriver({ endpoint, pollTimes });
  const { instances, inventory, resources } = readerOf(client);
  return {
    driver: createDriver(),
    machineClass: classOf(),
    secret: { accessKeyID: "AKIAMOTO0123456789", secretAccessKey: "moto-secret-0123456789" },
    createDriver: () => createDriver(),
    publicSecretKeys: ["accessKeyID"],
    lacks: {
      parts: "volumes and interfaces of an instance end with it",
      credentials: "moto accepts all of them",
      quota: "moto has none",
      terminatingState: "moto terminates instances at once",
    },
    otherClass: classOf({ ami: moto.otherAmi }),
    otherClusterClass: classOf({ tags: { "kubernetes.io/cluster/other": "1", "kubernetes.io/role/node": "1" } }),
    withTags: (tags) => classOf({ tags: { ...spec.tags, ...tags } }),
    endpoint: { url: moto.url, through: (endpoint) => ({ driver: createDriver(endpoint) }), errorAnswer },
    ownVolume: { spec: { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-0123" } }, id: "vol-0123" },
    maxUserDataBytes: 16 * 1_024,
    nodesOf: async (machine) => {
      const found = (await instances()).find((instance) => nameOf(instance) === machine);
      return nodeForms(
        () =>
          ec2Node({
            id: found?.InstanceId ?? "",
            region,
            availabilityZone: found?.Placement?.AvailabilityZone ?? "",
            instanceType: found?.InstanceType ?? "",
            privateDnsName: found?.PrivateDnsName ?? "",
            privateIp: found?.PrivateIpAddress ?? "",
            isRunning: true,
          }),
        ec2MachineId,
      );
    },
    inventory,
    resources,
    async close() {
      client.destroy();
      await moto.close();
    },
  };
});
