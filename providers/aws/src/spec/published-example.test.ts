import { secretProblems, specProblems } from "@millwright/core/testing";
import { expect, it } from "vitest";
import { createAwsDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest } from "../testing/aws-cloud.ts";

/** The fields of kubernetes/machine-class.yaml in gardener/machine-controller-manager-provider-aws, those that are commented out there included. */
const example = {
  ami: "ami-1",
  blockDevices: [
    {
      deviceName: "/root",
      ebs: { volumeSize: 50, volumeType: "gp2", encrypted: false, deleteOnTermination: true },
    },
    {
      deviceName: "/dev/sdb",
      ebs: { volumeSize: 50, volumeType: "gp2", encrypted: true, deleteOnTermination: true },
    },
  ],
  iam: { name: "nodes" },
  keyName: "key",
  machineType: "m5.large",
  networkInterfaces: [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"] }],
  region: "eu-west-1",
  spotPrice: "",
  tags: {
    Name: "a-machine",
    "kubernetes.io/cluster/shoot": "1",
    "kubernetes.io/role/node": "1",
    team: "red",
  },
  instanceMetadataOptions: {
    httpEndpoint: "enabled",
    httpPutResponseHopLimit: 1,
    httpTokens: "optional",
    httpProtocolIpv6: "disabled",
  },
};

it.each([
  ["", {}],
  [", with a capacity reservation by preference", { capacityReservation: { capacityReservationPreference: "open" } }],
  [", with a capacity reservation by id", { capacityReservation: { capacityReservationId: "cr-05c28b843c05acc11" } }],
  [
    ", with a capacity reservation by group",
    {
      capacityReservation: {
        capacityReservationResourceGroupArn: "arn:aws:resource-groups:eu-west-1:123456789012:group/nodes",
      },
    },
  ],
  [", with the ARN of its profile", { iam: { arn: "arn:aws:iam::123456789012:instance-profile/nodes" } }],
])("accepts the published class%s", async (_, change) => {
  expect(await specProblems(createAwsDriver(), { ...example, ...change })).toEqual([]);
});

it("makes a VM of the published class", async () => {
  const { driver, ec2 } = await aCloud();
  await driver.createMachine(aRequest(aMachine("m"), example), aContext());
  const { instances, volumes } = ec2.inventory();
  expect(instances).toMatchObject([{ instanceType: "m5.large", lifecycle: "spot" }]);
  expect(instances[0]?.tags.get("Name")).toBe("m");
  expect(volumes.map(({ deviceName }) => deviceName)).toEqual(["/dev/xvda", "/dev/sdb"]);
});

it.each([
  ["", { providerAccessKeyId: "AKIA1", providerSecretAccessKey: "secret" }],
  [" with the other names", { accessKeyId: "AKIA1", secretAccessKey: "secret" }],
])("accepts the published secret%s", async (_, keys) => {
  expect(await secretProblems(createAwsDriver(), { userData: "boot", ...keys })).toEqual([]);
});
