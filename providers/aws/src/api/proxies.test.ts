import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRecordingProxy, type RecordingProxyOptions } from "@millwright/core/testing";
import { selfSignedCertificate, trustCertificate } from "@millwright/emulators/server";
import { expect, onTestFinished, test } from "vitest";
import { createAwsDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf, plainSecret } from "../testing/aws-cloud.ts";

const hosts = ["ec2.eu-west-1.amazonaws.com", "sts.eu-west-1.amazonaws.com", "0.0.0.0"];
const tls = selfSignedCertificate(new Date(), hosts);
const roleArn = "arn:aws:iam::123456789012:role/machines";

/** An emulated EC2 with the names of the real one, which only a proxy finds. */
async function aCloudBehindProxy(options: RecordingProxyOptions = {}) {
  onTestFinished(trustCertificate(tls.cert));
  const { url, ec2 } = await aCloud({
    tls,
    accessKeys: { AKIA1: { secretAccessKey: "first-secret", account: "1" } },
    webIdentities: { [roleArn]: "token-of-pod" },
  });
  const proxy = await startRecordingProxy({ forward: () => new URL(url).host, ...options });
  onTestFinished(() => proxy.close());
  return { url, ec2, proxy };
}

/** A class secret whose credentials come from STS. */
async function workloadIdentitySecret(): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), "token-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "token"), "token-of-pod");
  const { userData = "" } = plainSecret;
  return { roleARN: roleArn, workloadIdentityTokenFile: join(folder, "token"), userData };
}

test("requests to EC2 and for tokens of STS go through the proxy of the environment", async () => {
  const { proxy, ec2 } = await aCloudBehindProxy({ credentials: "me:pr0xyKey" });
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  const request = aRequest(aMachine("m"), {}, await workloadIdentitySecret());
  await createAwsDriver({ env }).createMachine(request, aContext());
  expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(
    new Set(["sts.eu-west-1.amazonaws.com:443", "ec2.eu-west-1.amazonaws.com:443"]),
  );
  expect(ec2.log.count("RunInstances")).toBe(1);
});

test("requests go past the proxy where NO_PROXY names the endpoint", async () => {
  const { proxy, url } = await aCloudBehindProxy();
  // No loopback address, to the eye of Go; and yet it leads to this machine.
  const endpoint = `https://0.0.0.0:${new URL(url).port}`;
  const request = aRequest(aMachine("m"), {}, await workloadIdentitySecret());
  const env = { HTTPS_PROXY: proxy.url };
  await createAwsDriver({ endpoint, env: { ...env, NO_PROXY: "0.0.0.0" } }).createMachine(request, aContext());
  expect(proxy.tunnels).toEqual([]);
  await createAwsDriver({ endpoint, env }).getMachineStatus(request, aContext());
  expect(proxy.tunnels.length).toBeGreaterThan(0);
});

test.each([
  ["static", "EC2", () => plainSecret],
  ["of STS", "STS", workloadIdentitySecret],
])("a proxy that refuses is named in the error, without its password: credentials %s", async (_, server, secret) => {
  const { proxy } = await aCloudBehindProxy({ refuse: 407 });
  const env = { HTTPS_PROXY: proxy.url.replace("//", "//me:pr0xyKey@") };
  const request = aRequest(aMachine("m"), {}, await secret());
  const failure = await failureOf(createAwsDriver({ env }).getMachineStatus(request, aContext()));
  expect(failure).toMatchObject({ code: "Unavailable", message: expect.stringContaining("responded with 407") });
  expect(String(failure)).toContain(`${server} is unreachable: proxy ${proxy.url} `);
  expect(String(failure)).not.toContain("pr0xyKey");
});
