import type { Driver } from "@millwright/core";
import { listenWithRubbish } from "@millwright/emulators/server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAwsDriver } from "../driver.ts";
import type { AwsSpec } from "../spec/spec.ts";
import { aCloud, aContext, aRequest } from "../testing/aws-cloud.ts";

describe("connections", () => {
  /** Sooner or later: a busy computer may take longer than one request may. */
  const expectUsable = (driver: Driver<AwsSpec>): Promise<void> =>
    vi.waitFor(
      () => expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "NotFound" }),
      10_000,
    );

  it("that are refused are Unavailable", async () => {
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
      message: expect.stringContaining("did not respond in time"),
    });
    await expectUsable(driver);
  });

  it("that stop in the middle of an answer are over after the time for one request", async () => {
    const { ec2, driver } = await aCloud({}, { requestTimeoutMs: 50 });
    ec2.faults.add({ operation: "DescribeInstances", times: 3, end: { kind: "stall" } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "DeadlineExceeded",
      message: expect.stringContaining("did not respond in time"),
    });
    ec2.faults.clear();
    await expectUsable(driver);
  });

  it("that bring more than any answer has are given up", async () => {
    const { ec2, driver } = await aCloud();
    const reply = {
      status: 200,
      headers: { "content-type": "text/xml" },
      body: `<DescribeInstancesResponse>${" ".repeat(70 * 1024 * 1024)}`,
    };
    ec2.faults.add({ operation: "DescribeInstances", end: { kind: "reply", reply } });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(/: EC2 sent a response of more than 67108864 bytes$/),
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
    const rubbish = await listenWithRubbish();
    onTestFinished(() => rubbish.close());
    const driver = createAwsDriver({ endpoint: rubbish.url });
    await expect(driver.getMachineStatus(aRequest(), aContext())).rejects.toMatchObject({ code: "Unavailable" });
  });
});
