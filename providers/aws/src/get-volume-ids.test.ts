import { describe, expect, it } from "vitest";
import { createAwsDriver } from "./driver.ts";
import { aContext } from "./testing/aws-cloud.ts";

describe("ids of volumes", () => {
  it.each<[string, Record<string, unknown>, string | undefined]>([
    ["a CSI volume of EBS", { csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" } }, "vol-1"],
    ["a CSI volume of another driver", { csi: { driver: "efs.csi.aws.com", volumeHandle: "fs-1" } }, undefined],
    ["a CSI volume without a handle", { csi: { driver: "ebs.csi.aws.com", volumeHandle: "" } }, undefined],
    ["an in-tree volume", { awsElasticBlockStore: { volumeID: "vol-2" } }, "vol-2"],
    ["an in-tree volume with its zone", { awsElasticBlockStore: { volumeID: "aws://eu-west-1a/vol-3" } }, "vol-3"],
    ["an in-tree volume without a zone", { awsElasticBlockStore: { volumeID: "aws:///vol-4" } }, "vol-4"],
    ["an in-tree volume that is none", { awsElasticBlockStore: { volumeID: "aws:///disk-4" } }, undefined],
    ["an in-tree volume deeper down", { awsElasticBlockStore: { volumeID: "aws://a/b/vol-4" } }, undefined],
    ["a volume of something else", { hostPath: { path: "/" } }, undefined],
    ["nonsense", { csi: null, awsElasticBlockStore: 7 }, undefined],
  ])("are read from %s", async (_, volume, expected) => {
    await expect(createAwsDriver().getVolumeIds({ volumes: [volume] }, aContext())).resolves.toEqual({
      volumeIds: [expected],
    });
  });

  it("come in the order of the volumes", async () => {
    const volumes = ["vol-1", "vol-2"].map((volumeID) => ({ awsElasticBlockStore: { volumeID } }));
    const { volumeIds } = await createAwsDriver().getVolumeIds({ volumes: [...volumes, {}] }, aContext());
    expect(volumeIds).toEqual(["vol-1", "vol-2", undefined]);
  });
});
