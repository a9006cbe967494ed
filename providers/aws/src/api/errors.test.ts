import { createServer } from "node:net";
import type { Driver } from "@millwright/core";
import type { FaultEnd } from "@millwright/emulators/server";
import { describe, expect, it, vi } from "vitest";
import { createAwsDriver } from "../driver.ts";
import type { AwsSpec } from "../spec/spec.ts";
import { aCloud, aContext, aMachine, aRequest } from "../testing/aws-cloud.ts";

const refuse = (code: string, more: object = {}): FaultEnd => ({ kind: "refuse", refusal: { code, ...more } });

/** What a call threw. */
const failureOf = async (call: Promise<unknown> | undefined): Promise<unknown> =>
  call?.then(
    () => "it did not fail",
    (error: unknown) => error,
  );

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
    ["RequestLimitExceeded", "Unavailable"],
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
    ["NobodyHasHeardOfThis", "InvalidArgument"],
  ])("%s while creating is %s", async (code, expected) => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({ operation: "RunInstances", times: 3, end: refuse(code, { message: "because" }) });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toMatchObject({
      code: expected,
      message: expect.stringMatching(
        new RegExp(`^making m5\\.large in subnet-a \\(eu-west-1\\): because \\(${code}\\)`),
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
      [refuse("RequestLimitExceeded"), "Unavailable"],
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

  it("that ask to wait say for how long", async () => {
    const { ec2, driver } = await aCloud();
    ec2.faults.add({
      operation: "DescribeInstances",
      times: 3,
      end: refuse("RequestLimitExceeded", { retryAfterS: 7 }),
    });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      retryAfterMs: 7_000,
    });
  });

  it("carry nothing that changes from try to try", async () => {
    const { ec2, driver } = await aCloud();
    const message = "You are not authorized. Encoded authorization failure message: Zm9vYmFy_-x Request ID: 0af1-22";
    ec2.faults.add({ operation: "RunInstances", end: refuse("UnauthorizedOperation", { message }) });
    await expect(driver.createMachine(aRequest(), aContext())).rejects.toThrow(
      /^making m5\.large in subnet-a \(eu-west-1\): You are not authorized\. \(UnauthorizedOperation\)$/,
    );
  });

  it("are asked again by the SDK at most twice, and not at all where that is no use", async () => {
    const { ec2, driver } = await aCloud();
    for (const [code, tries] of [
      ["RequestLimitExceeded", 3],
      ["InternalError", 3],
      ["InsufficientInstanceCapacity", 1],
      ["InvalidParameterValue", 1],
    ] as const) {
      ec2.log.clear();
      ec2.faults.add({ operation: "RunInstances", times: 9, end: refuse(code) });
      await failureOf(driver.createMachine(aRequest(), aContext()));
      ec2.faults.clear();
      expect([code, ec2.log.count("RunInstances")]).toEqual([code, tries]);
    }
  });
});

describe("connections", () => {
  /** Sooner or later: a busy computer may take longer than one request may. */
  const expectUsable = (driver: Driver<AwsSpec>): Promise<void> =>
    vi.waitFor(
      () => expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" }),
      10_000,
    );

  it("that nobody takes are Unavailable", async () => {
    const { driver } = await aCloud({}, { endpoint: "http://127.0.0.1:1" });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("to a host that has no name are Unavailable", async () => {
    const { driver } = await aCloud({}, { endpoint: "http://no-such-host.invalid" });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("that are no TLS are Unavailable", async () => {
    const { url } = await aCloud();
    const secure = createAwsDriver({ endpoint: url.replace("http:", "https:") });
    await expect(secure.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });

  it("that never answer are over after the time for one request", async () => {
    const { ec2, driver } = await aCloud({}, { requestTimeoutMs: 50 });
    ec2.faults.add({ operation: "DescribeInstances", times: 3, end: { kind: "hang" } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringContaining("did not answer in time"),
    });
    await expectUsable(driver);
  });

  it("that stop in the middle of an answer are over after the time for one request", async () => {
    const { ec2, driver } = await aCloud({}, { requestTimeoutMs: 50 });
    ec2.faults.add({ operation: "DescribeInstances", times: 3, end: { kind: "stall" } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringContaining("did not answer in time"),
    });
    ec2.faults.clear();
    await expectUsable(driver);
  });

  it("that bring more than any answer has are given up", async () => {
    const { ec2, driver } = await aCloud();
    const reply = { status: 200, headers: { "content-type": "text/xml" }, body: " ".repeat(70 * 1024 * 1024) };
    ec2.faults.add({ operation: "DescribeInstances", end: { kind: "reply", reply } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(/: EC2 answered with more than 67108864 bytes$/),
    });
  });

  it.each([
    ["the deadline", () => AbortSignal.timeout(60), "DeadlineExceeded"],
    [
      "the end of the process",
      () => {
        const stop = new AbortController();
        setTimeout(() => stop.abort(new Error("stopping")), 60);
        return stop.signal;
      },
      "Aborted",
    ],
  ])("are given up by %s, in every method and at once", async (_, signalOf, code) => {
    const { ec2, driver } = await aCloud();
    const request = aRequest();
    await driver.createMachine(request, aContext());
    for (const method of [
      "createMachine",
      "deleteMachine",
      "getMachineStatus",
      "initializeMachine",
      "listMachines",
      "findDrift",
    ] as const) {
      // Also for a request of the method before that comes late.
      ec2.faults.add({ operation: "*", times: 99, end: { kind: "hang" } });
      // The time for one request is longer than that for this test.
      await expect(driver[method]?.(request, aContext(signalOf()))).rejects.toMatchObject({ code });
      ec2.faults.clear();
    }
    await expect(
      driver.deleteMachine(request, aContext(AbortSignal.abort(new Error("stopped")))),
    ).rejects.toMatchObject({ code: "Aborted" });
  });

  it("that get rubbish for an answer are Unavailable", async () => {
    const rubbish = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end("SSH-2.0-OpenSSH\r\n");
    });
    await new Promise<void>((resolve) => rubbish.listen(0, "127.0.0.1", resolve));
    const address = rubbish.address();
    const port = typeof address === "object" ? address?.port : 0;
    const driver = createAwsDriver({ endpoint: `http://127.0.0.1:${port}` });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
    rubbish.close();
  });
});
