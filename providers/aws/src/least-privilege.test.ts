import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, sentParameters } from "./testing/aws-cloud.ts";
import { actionOf, actionsOnlyForDoctor, allowedActions } from "./testing/iam-policy.ts";

describe("the README's IAM policy", () => {
  // That nothing else is asked for is looked at after every test of this driver: testing/aws-cloud.ts.
  it("allows what the driver asks EC2 for, and nothing else", async () => {
    const { ec2, driver } = await aCloud();
    ec2.world.capacity.set("m5.large", 0);
    const card = { subnetID: "subnet-a", securityGroupIDs: ["sg-1"], ipv6PrefixCount: 1 };
    const request = aRequest(aMachine("m"), {
      networkInterfaces: [card],
      srcAndDstChecksEnabled: false,
      fallbacks: [{ machineType: "m5.xlarge" }],
    });
    await driver.createMachine(request, aContext());
    await driver.getMachineStatus(request, aContext());
    await driver.initializeMachine?.(request, aContext());
    await driver.findDrift?.(request, aContext());
    await driver.getNodeTemplate?.(request, aContext());
    await driver.listMachines?.(request, aContext());
    await driver.deleteMachine(request, aContext());
    const asked = new Set(ec2.log.requests.flatMap(({ operation }) => actionOf(operation) ?? []));

    // A launch needs these too, by what it names.
    const launch = Object.keys(sentParameters(ec2, "RunInstances"));
    if (launch.some((key) => key.startsWith("TagSpecification."))) asked.add("ec2:CreateTags");
    if (launch.some((key) => key.startsWith("IamInstanceProfile."))) asked.add("iam:PassRole");
    const needed = [...allowedActions].filter((action) => !actionsOnlyForDoctor.has(action));
    expect(needed.toSorted()).toEqual([...asked].toSorted());
  });

  it("has a statement for what only the checks of a class ask for", async () => {
    const { ec2, driver } = await aCloud();
    await driver.createMachine(aRequest(), aContext());
    ec2.log.clear();
    await driver.checkClass?.(aRequest(), aContext());
    const asked = new Set(ec2.log.requests.flatMap(({ operation }) => actionOf(operation) ?? []));
    expect([...asked].filter((action) => actionsOnlyForDoctor.has(action)).toSorted()).toEqual(
      [...actionsOnlyForDoctor].toSorted(),
    );
  });
});
