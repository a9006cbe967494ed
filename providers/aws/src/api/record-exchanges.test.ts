import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CloudExchange } from "@millwright/core";
import { expect, onTestFinished, test } from "vitest";
import { aCloud, aContext, aMachine, aRequest, failureOf, plainSecret } from "../testing/aws-cloud.ts";

const roleArn = "arn:aws:iam::123456789012:role/machines";

/** A context that keeps what is recorded. */
function aRecordingContext(signal?: AbortSignal) {
  const exchanges: CloudExchange[] = [];
  return { ...aContext(signal), recordExchange: (exchange: CloudExchange) => void exchanges.push(exchange), exchanges };
}

const actionOf = ({ requestBody }: CloudExchange): string => new URLSearchParams(requestBody).get("Action") ?? "";

test("requests to EC2 and STS are recorded with their answers", async () => {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const workloadIdentityTokenFile = join(folder, "token");
  await writeFile(workloadIdentityTokenFile, "good");
  const { driver, url } = await aCloud({ accessKeys: {}, webIdentities: { [roleArn]: "good" } });
  const context = aRecordingContext();
  const secret = { roleARN: roleArn, workloadIdentityTokenFile, userData: plainSecret["userData"] ?? "" };
  await driver.createMachine(aRequest(aMachine("m"), {}, secret), context);
  expect(new Set(context.exchanges.map(actionOf))).toEqual(
    new Set(["AssumeRoleWithWebIdentity", "DescribeInstances", "DescribeImages", "RunInstances"]),
  );
  const launch = context.exchanges.find((exchange) => actionOf(exchange) === "RunInstances");
  expect(launch).toMatchObject({
    method: "POST",
    url: `${url}/`,
    status: 200,
    requestHeaders: { authorization: expect.stringContaining("AWS4-HMAC-SHA256") },
    responseBody: expect.stringMatching(/^<\?xml[^]*<\/RunInstancesResponse>$/),
  });
});

test("each attempt is recorded, refusals and broken connections too, and the driver does as without", async () => {
  const { driver, ec2 } = await aCloud();
  ec2.faults.add({ operation: "DescribeInstances", times: 1, end: { kind: "reset" } });
  ec2.faults.add({
    operation: "DescribeInstances",
    times: 1,
    end: { kind: "refuse", refusal: { code: "RequestLimitExceeded", status: 503 } },
  });
  const context = aRecordingContext();
  const missing = await failureOf(driver.getMachineStatus(aRequest(), context));
  expect(missing).toMatchObject({ code: "NotFound" });
  expect(context.exchanges.map(({ status, error }) => status ?? error).slice(0, 3)).toEqual(["ECONNRESET", 503, 200]);
});

test("half an answer is recorded as a failure", async () => {
  const { driver, ec2 } = await aCloud();
  ec2.faults.add({ operation: "DescribeInstances", end: { kind: "truncate" } });
  const context = aRecordingContext();
  await failureOf(driver.getMachineStatus(aRequest(), context));
  expect(context.exchanges.map(({ status, error }) => status ?? error)).toEqual(["ECONNRESET", 200]);
});
