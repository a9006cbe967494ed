import {
  DeleteTagsCommand,
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeVolumesCommand,
  type EC2Client,
  type Instance,
} from "@aws-sdk/client-ec2";
import { aContext, secretOf, withoutPending } from "@millwright/core/testing";
import { awsSpecSchema, createAwsDriver, ownerTagKeys } from "@millwright/provider-aws";
import { ec2Node } from "./cloud-controller-manager/aws.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { startCloudInstallation } from "./cloud-installation.ts";
import { clientOf, region, startMoto } from "./ec2-servers.ts";
import { type CloudOptions, type CloudVm, requestFor, userData, type VmCloud } from "./vm-cloud.ts";

const keys = { accessKeyID: "AKIA1", secretAccessKey: "secret" };
const tagOf = ({ Tags = [] }: Instance, key: string): string => Tags.find(({ Key }) => Key === key)?.Value ?? "";

async function instancesOf(client: EC2Client): Promise<readonly Instance[]> {
  const { Reservations = [] } = await client.send(new DescribeInstancesCommand({}));
  return Reservations.flatMap(({ Instances = [] }) => Instances);
}

const isLeft = ({ State }: Instance): boolean => State?.Name !== "terminated";

/**
 * The name of an instance by its id (Amazon EC2 User Guide, "EC2 instance hostnames and domains"). One by its address will not do: moto gives that of a terminated instance to the next one,
 * whose kubelet would take over a Node that is about to be deleted.
 */
const resourceName = ({ providerId }: Pick<CloudInstance, "providerId">): string =>
  `${providerId.slice(providerId.lastIndexOf("/") + 1)}.${region}.compute.internal`;

/** An installation on moto, a third-party EC2 server. Everything is read through the unmodified SDK, as a cloud controller manager does. */
export async function startOnMoto({ nodes }: CloudOptions = {}): Promise<VmCloud> {
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
  const installation = await startCloudInstallation({
    provider: "AWS",
    providerSpec: spec,
    secret: { ...keys, userData },
    env: { AWS_ENDPOINT_URL_EC2: moto.url, AWS_EC2_METADATA_DISABLED: "true" },
    async instances() {
      return (await instancesOf(client)).filter(isLeft).map((instance) =>
        ec2Node({
          id: instance.InstanceId ?? "",
          region,
          availabilityZone: instance.Placement?.AvailabilityZone ?? "",
          instanceType: instance.InstanceType ?? "",
          privateDnsName: instance.PrivateDnsName ?? "",
          privateIp: instance.PrivateIpAddress ?? "",
          publicIp: instance.PublicIpAddress,
          isRunning: instance.State?.Name === "running",
        }),
      );
    },
    nodes: { lookMs: 500, hostname: resourceName, ...nodes },
  });
  const driver = withoutPending(createAwsDriver({ endpoint: moto.url }));

  const vmOf = async (instance: Instance): Promise<CloudVm> => {
    const id = instance.InstanceId ?? "";
    const input = { InstanceId: id, Attribute: "userData" } as const;
    const { UserData } = await client.send(new DescribeInstanceAttributeCommand(input));
    return {
      id,
      machine: tagOf(instance, ownerTagKeys.name),
      image: instance.ImageId ?? "",
      userData: Buffer.from(UserData?.Value ?? "", "base64").toString(),
    };
  };

  return {
    installation,
    // And a volume and an interface.
    thingsPerVm: 3,
    newer: { providerSpec: { ...spec, ami: moto.otherAmi }, image: moto.otherAmi },
    vms: async () => Promise.all((await instancesOf(client)).filter(isLeft).map(vmOf)),
    launches: async () => (await instancesOf(client)).length,
    async things() {
      const { Volumes = [] } = await client.send(new DescribeVolumesCommand({}));
      const { NetworkInterfaces = [] } = await client.send(new DescribeNetworkInterfacesCommand({}));
      return [...(await instancesOf(client)).filter(isLeft), ...Volumes, ...NetworkInterfaces];
    },
    async makeAsMcm(machine) {
      const request = requestFor(machine, awsSpecSchema.parse(spec), secretOf({ ...keys, userData }));
      const made = await driver.createMachine(request, aContext());
      const Tags = Object.values(ownerTagKeys).flatMap((Key) => (Key === ownerTagKeys.name ? [] : [{ Key }]));
      const Resources = (await instancesOf(client))
        .filter((instance) => tagOf(instance, ownerTagKeys.name) === machine)
        .flatMap(({ InstanceId = "", BlockDeviceMappings = [] }) => [
          InstanceId,
          ...BlockDeviceMappings.map(({ Ebs }) => Ebs?.VolumeId ?? ""),
        ]);
      await client.send(new DeleteTagsCommand({ Resources, Tags }));
      return { ...made, nodeName: resourceName(made) };
    },
    async close() {
      await installation.close();
      client.destroy();
      await moto.close();
    },
  };
}
