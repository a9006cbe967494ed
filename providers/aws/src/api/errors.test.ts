import { type FaultEnd, refuse } from "@millwright/emulators/server";
import { describe, expect, it } from "vitest";
import { aCloud, aContext, aMachine, aRequest, failureOf } from "../testing/aws-cloud.ts";

describe("refusals of EC2", () => {
  it.each<[string, string]>([
    ["InsufficientInstanceCapacity", "ResourceExhausted"],
    ["InsufficientCapacity", "ResourceExhausted"],
    ["InsufficientAddressCapacity", "ResourceExhausted"],
    ["InsufficientVolumeCapacity", "ResourceExhausted"],
    ["InsufficientFreeAddressesInSubnet", "ResourceExhausted"],
    ["InstanceLimitExceeded", "ResourceExhausted"],
    ["VcpuLimitExceeded", "ResourceExhausted"],
    ["VolumeLimitExceeded", "ResourceExhausted"],
    ["MaxIOPSLimitExceeded", "ResourceExhausted"],
    ["RouteLimitExceeded", "ResourceExhausted"],
    ["Unsupported", "ResourceExhausted"],
    ["MaxSpotInstanceCountExceeded", "ResourceExhausted"],
    ["SpotMaxPriceTooLow", "ResourceExhausted"],
    ["ReservationCapacityExceeded", "ResourceExhausted"],
    ["Unavailable", "Unavailable"],
    ["InternalError", "Unavailable"],
    ["UnauthorizedOperation", "PermissionDenied"],
    ["AuthFailure", "Unauthenticated"],
    ["SignatureDoesNotMatch", "Unauthenticated"],
    ["RequestExpired", "Unauthenticated"],
    ["InvalidClientTokenId", "Unauthenticated"],
    ["OptInRequired", "FailedPrecondition"],
    ["InvalidSubnetID.NotFound", "InvalidArgument"],
    ["InvalidGroup.NotFound", "InvalidArgument"],
    ["InvalidParameterValue", "InvalidArgument"],
    ["MissingParameter", "InvalidArgument"],
    ["InvalidKeyPair.NotFound", "InvalidArgument"],
    ["IncorrectState", "Aborted"],
    ["AnUnknownCode", "InvalidArgument"],
  ])("%s while creating is %s", async (code, expected) => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({ operation: "RunInstances", times: 3, end: refuse(code, { message: "because" }) });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: expected,
      message: expect.stringMatching(
        new RegExp(`^creating m5\\.large in subnet-a \\(eu-west-1\\): because \\(${code}\\)`),
      ),
    });
    ec2.faults.clear();
    // Another attempt, with the token that the controller would take then.
    await driver.createMachine({ ...aRequest(), idempotencyToken: "next" }, aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("about the image are about the class, not about the VM", async () => {
    const { driver } = await aCloud();
    await expect(driver.createMachine(aRequest(aMachine("m"), { ami: "ami-9" }), aContext())).rejects.toMatchObject({
      code: "InvalidArgument",
      message: expect.stringContaining("InvalidAMIID.NotFound"),
    });
  });

  it.each([
    ["createMachine", "DescribeInstances"],
    ["createMachine", "DescribeImages"],
    ["createMachine", "RunInstances"],
    ["deleteMachine", "DescribeInstances"],
    ["deleteMachine", "TerminateInstances"],
    ["getMachineStatus", "DescribeInstances"],
    ["initializeMachine", "DescribeInstances"],
    ["initializeMachine", "ModifyNetworkInterfaceAttribute"],
    ["initializeMachine", "AssignIpv6Addresses"],
    ["listMachines", "DescribeInstances"],
    ["findDrift", "DescribeInstances"],
    ["getNodeTemplate", "DescribeInstanceTypes"],
    ["getNodeTemplate", "DescribeSubnets"],
  ] as const)("in %s at %s never are Internal, and each call can be made again", async (method, operation) => {
    const { ec2, driver } = await aCloud();
    const networkInterfaces = [{ subnetID: "subnet-a", securityGroupIDs: ["sg-1"], ipv6PrefixCount: 1 }];
    const request = aRequest(aMachine("m"), { srcAndDstChecksEnabled: false, networkInterfaces });
    if (method !== "createMachine") await driver.createMachine(request, aContext());
    const ends: readonly (readonly [FaultEnd, string])[] = [
      [refuse("UnauthorizedOperation"), "PermissionDenied"],
      [refuse("AuthFailure"), "Unauthenticated"],
      [refuse("InternalError"), "Unavailable"],
      [refuse("ServiceUnavailable"), "Unavailable"],
      [{ kind: "reset" }, "Unavailable"],
      [
        { kind: "reply", reply: { status: 502, headers: { "content-type": "text/html" }, body: "<html>bad" } },
        "Unavailable",
      ],
      [{ kind: "reply", reply: { status: 200, body: "not XML at all" } }, "Unavailable"],
      // Well-formed XML, which the SDK would read as an empty answer.
      [{ kind: "reply", reply: { status: 200, body: "<html><body>Log in</body></html>" } }, "Unavailable"],
      [{ kind: "reply", reply: { status: 404, body: "<html><body>Not found</body></html>" } }, "Unavailable"],
      // Last, for it has its effect.
      [{ kind: "truncate" }, "Unavailable"],
    ];
    const codes: unknown[] = [];
    for (const [end] of ends) {
      // An answer that was accepted and lost may be made up for by the SDK; here none comes through.
      ec2.faults.add({ operation, times: 100, end });
      const failure = await failureOf(driver[method]?.(request, aContext()));
      codes.push(failure instanceof Error ? Reflect.get(failure, "code") : failure);
      ec2.faults.clear();
    }
    expect(codes).toEqual(ends.map(([, code]) => code));
    await expect(driver[method]?.(request, aContext())).resolves.toBeDefined();
  });

  it.each(["RequestLimitExceeded", "Throttling"])("%s ends a call only when its time does not last", async (code) => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({ operation: "RunInstances", end: refuse(code) });
    await expect(driver.createMachine(aRequest(), aContext(undefined, 1_000))).rejects.toMatchObject({
      code: "Unavailable",
      message: `EC2 throttles RunInstances (${code}): the wait for a turn exceeds the deadline of the call`,
      retryAfterMs: expect.closeTo(1_000, -3),
    });
    await driver.createMachine(aRequest(), aContext());
    expect([ec2.log.count("RunInstances"), ec2.inventory().instances.length]).toEqual([2, 1]);
  });

  it("with a delay longer than a call have retryAfterMs", async () => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({ operation: "DescribeInstances", end: refuse("RequestLimitExceeded", { retryAfterS: 400 }) });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      retryAfterMs: expect.closeTo(400_000, -4),
    });
    expect(ec2.log.count("DescribeInstances")).toBe(1);
  });

  it("carry nothing that changes from try to try", async () => {
    const { ec2, driver } = await aCloud();
    const message = "You are not authorized. Encoded authorization failure message: Zm9vYmFy_-x Request ID: 0af1-22";
    ec2.faults.add({ operation: "RunInstances", end: refuse("UnauthorizedOperation", { message }) });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toThrow(
      /^creating m5\.large in subnet-a \(eu-west-1\): You are not authorized\. \(UnauthorizedOperation\)$/,
    );
  });

  it("are repeated at most twice, and not at all where that is no use", async () => {
    const { ec2, driver } = await aCloud();
    for (const [code, attempts] of [
      ["InternalError", 3],
      ["InsufficientInstanceCapacity", 1],
      ["InvalidParameterValue", 1],
    ] as const) {
      ec2.log.clear();
      ec2.faults.add({ operation: "RunInstances", times: 9, end: refuse(code) });
      await failureOf(driver.createMachine(aRequest(), aContext()));
      ec2.faults.clear();
      expect([code, ec2.log.count("RunInstances")]).toEqual([code, attempts]);
    }
  });
});
