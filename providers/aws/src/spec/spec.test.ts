import { specProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createAwsDriver } from "../driver.ts";
import { manyTags, plainSpec } from "../testing/aws-cloud.ts";
import { awsSpecSchema } from "./spec.ts";

const root = { deviceName: "/root", ebs: { volumeSize: 20, volumeType: "gp3" } };
const disk = (deviceName: string, ebs: object = {}) => ({ deviceName, ebs: { ...root.ebs, ...ebs } });
const card = { subnetID: "subnet-a", securityGroupIDs: ["sg-1"] };
const megabyte = "a".repeat(2 ** 20);
const without = (key: string) => Object.fromEntries(Object.entries(plainSpec).filter(([name]) => name !== key));

const problemsOf = (providerSpec: unknown) => specProblems(createAwsDriver(), providerSpec);

describe("providerSpec", () => {
  it("is good with what is required, and gets its defaults once and for all", () => {
    const read = awsSpecSchema.parse(plainSpec);
    expect(read).toMatchObject({
      ebsOptimized: false,
      monitoring: false,
      fallbacks: [],
      blockDevices: [{ deviceName: "", ebs: { encrypted: false, deleteOnTermination: true, iops: 0 } }],
      networkInterfaces: [{ deleteOnTermination: true }],
    });
    expect(awsSpecSchema.parse(read)).toEqual(read);
  });

  it("is read as Go reads it: keys in any case, null is absent, unknown keys are ignored", () => {
    const { machineType, networkInterfaces, ...rest } = plainSpec;
    const spelled = {
      ...rest,
      MachineType: machineType,
      NETWORKINTERFACES: networkInterfaces.map(({ subnetID, securityGroupIDs }) => ({
        subnetId: subnetID,
        SecurityGroupIds: [...securityGroupIDs],
      })),
      keyName: null,
      instanceMetadataOptions: null,
      kind: "AWSProviderSpec",
      vpcID: { later: true },
    };
    expect(awsSpecSchema.parse(spelled)).toEqual(awsSpecSchema.parse(plainSpec));
  });

  it("takes empty texts for absent ones, as Go's zero values are", () => {
    const [network] = plainSpec.networkInterfaces;
    const given = {
      ...plainSpec,
      apiVersion: "",
      keyName: "",
      iam: { name: "nodes", arn: "" },
      blockDevices: [{ ebs: { ...root.ebs, kmsKeyID: "", snapshotID: "" }, noDevice: "", virtualName: "" }],
      networkInterfaces: [{ ...network, description: "", interfaceType: "" }],
      capacityReservation: {
        capacityReservationPreference: "open",
        capacityReservationId: "",
        capacityReservationResourceGroupArn: "",
      },
      cpuOptions: { amdSevSnp: "" },
      instanceMetadataOptions: { httpEndpoint: "", httpTokens: "", httpProtocolIpv6: "", instanceMetadataTags: "" },
      instanceMarketOptions: { marketType: "capacity-block", maxPrice: "" },
      placement: { groupId: "", tenancy: "", hostId: "", affinity: "" },
      fallbacks: [{ machineType: "", subnetID: "subnet-b" }],
      tags: { ...plainSpec.tags, empty: null },
    };
    const wanted = {
      ...plainSpec,
      blockDevices: [{ ebs: root.ebs }],
      capacityReservation: { capacityReservationPreference: "open" },
      cpuOptions: {},
      instanceMetadataOptions: {},
      instanceMarketOptions: { marketType: "capacity-block" },
      placement: {},
      fallbacks: [{ subnetID: "subnet-b" }],
      tags: { ...plainSpec.tags, empty: "" },
    };
    expect(awsSpecSchema.parse(given)).toEqual(awsSpecSchema.parse(wanted));
  });

  it("keeps an empty spotPrice, which asks for a spot VM at any price", () => {
    expect(awsSpecSchema.parse({ ...plainSpec, spotPrice: "" }).spotPrice).toBe("");
  });

  it.each(["ami", "region", "machineType", "blockDevices", "iam", "networkInterfaces", "tags"])(
    "needs %s",
    async (field) => {
      expect(await problemsOf(without(field))).toEqual([
        expect.stringMatching(new RegExp(`^providerSpec\\.${field}: `)),
      ]);
    },
  );

  it.each<[string, object, RegExp]>([
    ["an empty ami", { ami: "" }, /^providerSpec\.ami: must not be empty/],
    ["a region that is a host", { region: "evil.example.com/x" }, /^providerSpec\.region: must be an AWS region/],
    [
      "an empty region",
      { region: "" },
      /^providerSpec\.region: must be an AWS region, for example "eu-west-1", not ""$/,
    ],
    [
      "a region of no partition",
      { region: "moon-1" },
      /^providerSpec\.region: must be an AWS region, .*, not "moon-1"$/,
    ],
    ["a machine type that is a number", { machineType: 5 }, /^providerSpec\.machineType: /],
    ["neither name nor arn of a profile", { iam: {} }, /^providerSpec\.iam: must have a name or an arn/],
    ["name and arn of a profile", { iam: { name: "a", arn: "b" } }, /^providerSpec\.iam: .*not both/],
    [
      "no cluster tag",
      { tags: { "kubernetes.io/role/node": "1" } },
      /^providerSpec\.tags: .*kubernetes\.io\/cluster\//,
    ],
    ["no role tag", { tags: { "kubernetes.io/cluster/a": "1" } }, /^providerSpec\.tags: .*kubernetes\.io\/role\//],
    ["more tags than EC2 takes", { tags: manyTags(50) }, /^providerSpec\.tags: must have at most 49/],
    ["a tag that is no text", { tags: { ...plainSpec.tags, a: 1 } }, /^providerSpec\.tags\.a: /],
    ["no disk", { blockDevices: [] }, /^providerSpec\.blockDevices: must name at least/],
    ["a disk without a volume", { blockDevices: [{}] }, /^providerSpec\.blockDevices\[0\]\.ebs: is required/],
    ["a disk without a size", { blockDevices: [{ ebs: { volumeType: "gp3" } }] }, /\[0\]\.ebs\.volumeSize: /],
    ["a disk of size 0", { blockDevices: [disk("", { volumeSize: 0 })] }, /\[0\]\.ebs\.volumeSize: must be at least 1/],
    ["a disk of a negative size", { blockDevices: [disk("", { volumeSize: -1 })] }, /\[0\]\.ebs\.volumeSize: /],
    ["a disk of a broken size", { blockDevices: [disk("", { volumeSize: 1.5 })] }, /\[0\]\.ebs\.volumeSize: /],
    ["a disk of an unknown type", { blockDevices: [disk("", { volumeType: "gp9" })] }, /\[0\]\.ebs\.volumeType: /],
    ["io1 without iops", { blockDevices: [disk("", { volumeType: "io1" })] }, /\[0\]\.ebs\.iops: must be more than 0/],
    ["negative iops", { blockDevices: [disk("", { iops: -1 })] }, /\[0\]\.ebs\.iops: /],
    ["no throughput", { blockDevices: [disk("", { throughput: 0 })] }, /\[0\]\.ebs\.throughput: /],
    [
      "a root disk that is no volume",
      { blockDevices: [{ deviceName: "/root", virtualName: "ephemeral0" }, disk("/dev/sdf")] },
      /blockDevices\[0\]\.ebs: is required/,
    ],
    [
      "two disks and no root",
      { blockDevices: [disk("/dev/sdf"), disk("/dev/sdg")] },
      /blockDevices: must name the root/,
    ],
    [
      "two disks of one name",
      { blockDevices: [root, disk("/dev/sdf"), disk("/dev/sdf")] },
      /\[2\]\.deviceName: must be unique/,
    ],
    ["two roots", { blockDevices: [root, root] }, /\[1\]\.deviceName: must be unique/],
    ["a device that is none", { blockDevices: [root, disk("/dev/nvme0n1")] }, /\[1\]\.deviceName: must be "\/root"/],
    ["no interface", { networkInterfaces: [] }, /^providerSpec\.networkInterfaces: must name at least/],
    ["an interface without a subnet", { networkInterfaces: [{ securityGroupIDs: ["a"] }] }, /\[0\]\.subnetID: /],
    [
      "an interface without groups",
      { networkInterfaces: [{ ...card, securityGroupIDs: [] }] },
      /\[0\]\.securityGroupIDs: /,
    ],
    [
      "a blank group",
      { networkInterfaces: [{ ...card, securityGroupIDs: [" "] }] },
      /securityGroupIDs\[0\]: must not be blank/,
    ],
    [
      "an unknown type of interface",
      { networkInterfaces: [{ ...card, interfaceType: "x" }] },
      /\[0\]\.interfaceType: /,
    ],
    ["a negative card", { networkInterfaces: [{ ...card, networkCardIndex: -1 }] }, /\[0\]\.networkCardIndex: /],
    ["a negative index", { networkInterfaces: [{ ...card, deviceIndex: -1 }] }, /\[0\]\.deviceIndex: /],
    [
      "an index twice",
      { networkInterfaces: [card, { ...card, deviceIndex: 0 }] },
      /\[1\]\.deviceIndex: must be unique/,
    ],
    [
      "an unknown endpoint",
      { instanceMetadataOptions: { httpEndpoint: "x" } },
      /httpEndpoint: must be one of "enabled"/,
    ],
    ["unknown tokens", { instanceMetadataOptions: { httpTokens: "x" } }, /httpTokens: must be one of "required"/],
    ["too many hops", { instanceMetadataOptions: { httpPutResponseHopLimit: 65 } }, /httpPutResponseHopLimit: /],
    [
      "gp3 with too many iops for its size",
      { blockDevices: [disk("", { volumeSize: 20, iops: 16_000 })] },
      /\[0\]\.ebs\.iops: must be at most 10000 for 20 GiB: gp3 allows 500 for each GiB/,
    ],
    ["gp3 with too few iops", { blockDevices: [disk("", { iops: 300 })] }, /\[0\]\.ebs\.iops: must be at least 3000/],
    [
      "gp2 with iops",
      { blockDevices: [disk("", { volumeType: "gp2", iops: 300 })] },
      /\[0\]\.ebs\.iops: must be left out for volumes of type gp2/,
    ],
    [
      "io1 with too many iops for its size",
      { blockDevices: [disk("", { volumeType: "io1", iops: 1_001 })] },
      /\[0\]\.ebs\.iops: must be at most 1000/,
    ],
    [
      "io2 with too many iops for its size",
      { blockDevices: [disk("", { volumeType: "io2", iops: 20_001 })] },
      /\[0\]\.ebs\.iops: must be at most 20000/,
    ],
    [
      "throughput of gp2",
      { blockDevices: [disk("", { volumeType: "gp2", throughput: 200 })] },
      /\[0\]\.ebs\.throughput: may only be given for volumes of type gp3/,
    ],
    [
      "less throughput than gp3 has",
      { blockDevices: [disk("", { throughput: 100 })] },
      /\[0\]\.ebs\.throughput: must be at least 125/,
    ],
    [
      "more throughput than the iops allow",
      { blockDevices: [disk("", { throughput: 1_000 })] },
      /\[0\]\.ebs\.throughput: must be at most a quarter of the iops: 750/,
    ],
    ["no hops", { instanceMetadataOptions: { httpPutResponseHopLimit: 0 } }, /httpPutResponseHopLimit: /],
    ["negative hops", { instanceMetadataOptions: { httpPutResponseHopLimit: -1 } }, /httpPutResponseHopLimit: /],
    ["cores without threads", { cpuOptions: { coreCount: 1 } }, /cpuOptions: must have both/],
    ["threads without cores", { cpuOptions: { threadsPerCore: 1 } }, /cpuOptions: must have both/],
    ["three threads", { cpuOptions: { coreCount: 1, threadsPerCore: 3 } }, /cpuOptions\.threadsPerCore: /],
    ["an unknown SEV-SNP", { cpuOptions: { amdSevSnp: "maybe" } }, /cpuOptions\.amdSevSnp: /],
    [
      "a reservation by preference and id",
      { capacityReservation: { capacityReservationPreference: "open", capacityReservationId: "a" } },
      /capacityReservation: must not have an id or a group/,
    ],
    [
      "a reservation by id and group",
      { capacityReservation: { capacityReservationId: "a", capacityReservationResourceGroupArn: "b" } },
      /capacityReservation: must have either/,
    ],
    ["an unknown tenancy", { placement: { tenancy: "x" } }, /placement\.tenancy: /],
    ["a host without its tenancy", { placement: { hostId: "h", tenancy: "default" } }, /placement\.hostId: may only/],
    ["partition 0", { placement: { partitionNumber: 0 } }, /placement\.partitionNumber: /],
    ["an unknown affinity", { placement: { affinity: "x" } }, /placement\.affinity: /],
    [
      "an unknown market",
      { instanceMarketOptions: { marketType: "on-demand" } },
      /instanceMarketOptions\.marketType: /,
    ],
    [
      "a price that is not of a spot VM",
      { instanceMarketOptions: { marketType: "capacity-block", maxPrice: "1" } },
      /instanceMarketOptions\.maxPrice: may only/,
    ],
    ["a text of a megabyte", { ami: megabyte }, /^providerSpec\.ami: /],
    ["a tag of a megabyte", { tags: { ...plainSpec.tags, a: megabyte } }, /^providerSpec\.tags\.a: /],
    ["a key of a megabyte", { blockDevices: [disk("", { kmsKeyID: megabyte })] }, /\[0\]\.ebs\.kmsKeyID: /],
    ["a subnet of a megabyte", { networkInterfaces: [{ ...card, subnetID: megabyte }] }, /\[0\]\.subnetID: /],
    ["a fallback that is a text", { fallbacks: ["m5.large"] }, /^providerSpec\.fallbacks\[0\]: /],
    ["an empty fallback", { fallbacks: [{}] }, /fallbacks\[0\]: must have "machineType" or "subnetID"/],
    ["a fallback of misspelt keys", { fallbacks: [{ machineTyp: "m" }] }, /fallbacks\[0\]: must have/],
    ["a key that would reach a prototype", JSON.parse('{"__proto__":{"a":1}}'), /__proto__/],
  ])("refuses %s and names the field", async (_, change, expected) => {
    const spec = { ...plainSpec };
    // Spreading drops `__proto__`; a class from the API server can have it.
    for (const [key, value] of Object.entries(change)) Object.defineProperty(spec, key, { value, enumerable: true });
    expect(await problemsOf(spec)).toEqual([expect.stringMatching(expected)]);
  });

  it.each<[string, object]>([
    ["a single disk of any name", { blockDevices: [disk("/dev/whatever")] }],
    ["disks with a root", { blockDevices: [root, disk("/dev/sdf"), disk("/dev/xvdba")] }],
    ["as many tags as EC2 takes, where Name does not count", { tags: { ...manyTags(49), Name: "x" } }],
    ["a key, which means encryption", { blockDevices: [disk("", { kmsKeyID: "k" })] }],
    ["a volume beside what else a disk may be", { blockDevices: [root, { ...disk("/dev/sdf"), virtualName: "x" }] }],
    ["io1 and io2 with iops", { blockDevices: [root, disk("/dev/sdf", { volumeType: "io2", iops: 100 })] }],
    ["a region that is newer than the SDK", { region: "ap-atlantis-7" }],
    ["SEV-SNP without cores", { cpuOptions: { amdSevSnp: "enabled" } }],
    ["two cards with an index each", { networkInterfaces: [card, { ...card, networkCardIndex: 1, deviceIndex: 0 }] }],
    ...["gp2", "gp3", "st1", "sc1", "standard"].map((volumeType): [string, object] => [
      `volumes of type ${volumeType}`,
      { blockDevices: [disk("", { volumeType })] },
    ]),
    ["one hop", { instanceMetadataOptions: { httpPutResponseHopLimit: 1 } }],
    ["gp3 with the iops of any size", { blockDevices: [disk("", { volumeSize: 1, iops: 3_000 })] }],
    [
      "gp3 with the most iops of its size",
      { blockDevices: [disk("", { volumeSize: 20, iops: 10_000, throughput: 2_500 })] },
    ],
    ["gp3 with more iops than any today", { blockDevices: [disk("", { volumeSize: 1_000, iops: 200_000 })] }],
    ["io1 with the most iops of its size", { blockDevices: [disk("", { volumeType: "io1", iops: 1_000 })] }],
    ["io2 with the most iops of its size", { blockDevices: [disk("", { volumeType: "io2", iops: 20_000 })] }],
    ["gp2 with the iops of Go's zero value", { blockDevices: [disk("", { volumeType: "gp2", iops: 0 })] }],
    ["as many hops as there may be", { instanceMetadataOptions: { httpPutResponseHopLimit: 64 } }],
    ...["spot", "capacity-block", "interruptible-capacity-reservation"].map((marketType): [string, object] => [
      `the market ${marketType}`,
      { instanceMarketOptions: { marketType } },
    ]),
    ["a reservation by whatever preference EC2 knows", { capacityReservation: { capacityReservationPreference: "x" } }],
    ["a host", { placement: { tenancy: "host", hostId: "h" } }],
  ])("takes %s", async (_, change) => {
    expect(await problemsOf({ ...plainSpec, ...change })).toEqual([]);
  });

  it.each([[null], [undefined]])("is refused when it is %s", async (spec) => {
    expect(await problemsOf(spec)).toEqual([expect.stringContaining("is required")]);
  });
});
