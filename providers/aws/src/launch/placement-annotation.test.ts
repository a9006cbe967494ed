import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, sentParameters } from "../testing/aws-cloud.ts";
import { readPlacementAnnotation } from "./placement-annotation.ts";

const annotated = (value: string) => aMachine("m", { nodeAnnotations: { "machine.sapcloud.io/awsPlacement": value } });

describe("the placement annotation", () => {
  it.each<[string, object | undefined]>([
    ["", undefined],
    ["{}", undefined],
    [" {} ", undefined],
    ['{"affinity":null}', undefined],
    ['{"tenancy":"dedicated"}', { Tenancy: "dedicated" }],
    ['{"Affinity":"host","HOSTID":"h-1","tenancy":"host"}', { Affinity: "host", HostId: "h-1", Tenancy: "host" }],
    [
      '{"availabilityZone":"a","partitionNumber":2,"groupName":"g"}',
      { AvailabilityZone: "a", PartitionNumber: 2, GroupName: "g" },
    ],
  ])("%s is read", (value, expected) => {
    const given = Object.entries(readPlacementAnnotation(annotated(value)) ?? {}).filter(
      ([, part]) => part !== undefined,
    );
    expect(Object.fromEntries(given)).toEqual(expected ?? {});
  });

  it.each(["{", "[]", "7", '{"tenancy":"x"}', '{"partitionNumber":"2"}'])("%s is refused", (value) => {
    expect(() => readPlacementAnnotation(annotated(value))).toThrow(/machine "m": annotation .*awsPlacement/);
  });

  it("counts where the class has no placement", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(annotated('{"tenancy":"dedicated"}')), aContext());
    expect(sentParameters(ec2, "RunInstances")).toMatchObject({ "Placement.Tenancy": "dedicated" });
  });

  it("does not count where the class has one", async () => {
    const { ec2, driver } = await aCloud();
    const request = aRequest(annotated('{"tenancy":"dedicated"}'), { placement: { groupId: "g" } });
    await driver.createMachine(request, aContext());
    const sent = sentParameters(ec2, "RunInstances");
    expect([sent["Placement.Tenancy"], sent["Placement.GroupId"]]).toEqual([undefined, "g"]);
  });
});
