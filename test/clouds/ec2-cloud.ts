import { createEc2Emulator, type Ec2Emulator, type Ec2EmulatorOptions } from "@millwright/emulators/ec2";
import { aContext, secretOf, withoutPending } from "@millwright/core/testing";
import { awsSpecSchema, createAwsDriver, ownerTagKeys } from "@millwright/provider-aws";
import { closeEmulator } from "./close-emulator.ts";
import { ec2Node } from "./cloud-controller-manager/aws.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { type CloudInstallation, type NodeOptions, startCloudInstallation } from "./cloud-installation.ts";
import type { StartLoopCloud } from "./machine-loop-scenario.ts";
import { requestFor, userData } from "./vm-cloud.ts";

/** `providerSpec` of the class `pool`. */
export const ec2Spec = {
  ami: "ami-1",
  region: "eu-west-1",
  machineType: "m5.large",
  srcAndDstChecksEnabled: false,
  iam: { name: "nodes" },
  blockDevices: [{ ebs: { volumeSize: 20, volumeType: "gp3" } }],
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
  tags: { "kubernetes.io/cluster/shoot": "1", "kubernetes.io/role/node": "1" },
};

/** The credentials in the class secret. */
export const ec2Keys = { accessKeyID: "AKIA1", secretAccessKey: "first-secret" };

/** The instances of an emulated EC2 that became nodes. */
export function ec2Nodes(ec2: Ec2Emulator): readonly CloudInstance[] {
  const { instances, networkInterfaces } = ec2.inventory();
  return instances
    .filter(({ state }) => state !== "pending")
    .map(({ id, region, instanceType, privateDnsName, state }) => {
      const primary = networkInterfaces.find(
        ({ instanceId, deviceIndex, networkCardIndex }) =>
          instanceId === id && deviceIndex === 0 && networkCardIndex === 0,
      );
      return ec2Node({
        id,
        region,
        availabilityZone: primary?.zone ?? "",
        instanceType,
        privateDnsName,
        privateIp: primary?.privateIp ?? "",
        publicIp: primary?.publicIp,
        isRunning: state === "running",
      });
    });
}

/** An installation on an emulated EC2. */
export async function startOnEc2(
  options: Ec2EmulatorOptions = {},
  spec: Readonly<Record<string, unknown>> = {},
  nodes: NodeOptions = {},
): Promise<{
  readonly ec2: Ec2Emulator;
  readonly url: string;
  readonly installation: CloudInstallation;
  close(): Promise<void>;
}> {
  const ec2 = createEc2Emulator({
    pendingMs: 200,
    nameMs: 100,
    shutdownMs: 300,
    visibilityMs: 50,
    latencyMs: 10,
    accessKeys: { AKIA1: { secretAccessKey: "first-secret", account: "1" } },
    images: { "ami-1": { rootDeviceName: "/dev/xvda" }, "ami-2": { rootDeviceName: "/dev/xvda" } },
    ...options,
  });
  const { url } = await ec2.listen();
  const installation = await startCloudInstallation({
    provider: "AWS",
    providerSpec: { ...ec2Spec, ...spec },
    secret: { ...ec2Keys, userData },
    env: { AWS_ENDPOINT_URL_EC2: url, AWS_EC2_METADATA_DISABLED: "true" },
    instances: () => ec2Nodes(ec2),
    nodes,
  });
  return {
    ec2,
    url,
    installation,
    async close() {
      await installation.close();
      await closeEmulator(ec2);
    },
  };
}

/** Tags that MCM's driver does not know. */
const marks = Object.values(ownerTagKeys).filter((key) => key !== ownerTagKeys.name);

/** EC2 for the machine loop. */
export const startEc2Loop: StartLoopCloud = async ({ pace, market, nodes } = {}) => {
  const { ec2, url, installation, close } = await startOnEc2(
    pace === "slow" ? { latencyMs: 40, visibilityMs: 400 } : {},
    market === "spot" ? { spotPrice: "" } : {},
    nodes,
  );
  const driver = withoutPending(createAwsDriver({ endpoint: url }));
  return {
    installation,
    close,
    faults: ec2.faults,
    words: { create: "RunInstances", serverError: "InternalError", throttled: "RequestLimitExceeded" },
    // Volume and interface.
    thingsPerVm: 3,
    newer: { providerSpec: { ...ec2Spec, ami: "ami-2" }, image: "ami-2" },
    vms: () =>
      ec2.inventory().instances.map(({ id, tags, imageId, userData: bytes }) => ({
        id,
        machine: tags.get("Name") ?? "",
        image: imageId,
        userData: Buffer.from(bytes, "base64").toString(),
      })),
    launches: () => ec2.world.instances.size,
    things: () => Object.values(ec2.inventory()).flat(),
    async makeAsMcm(machine) {
      const request = requestFor(machine, awsSpecSchema.parse(ec2Spec), secretOf({ ...ec2Keys, userData }));
      const made = await driver.createMachine(request, aContext());
      for (const { tags } of Object.values(ec2.inventory()).flat()) {
        if (tags.get(ownerTagKeys.name) === machine) for (const key of marks) tags.delete(key);
      }
      return made;
    },
    foreignNode: { name: "ip-10-9-9-9.ec2.internal", providerId: "aws:///us-east-1a/i-0fedcba9876543210" },
    changeCredentials() {
      ec2.world.accessKeys?.set("AKIA2", { secretAccessKey: "second-secret", account: "1" });
      ec2.world.accessKeys?.delete("AKIA1");
      return { accessKeyID: "AKIA2", secretAccessKey: "second-secret" };
    },
    reclaim: (machine) =>
      ec2.reclaim(ec2.inventory().instances.find(({ tags }) => tags.get("Name") === machine)?.id ?? ""),
  };
};
