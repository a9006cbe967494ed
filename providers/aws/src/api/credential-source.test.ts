import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCredentialServer, type NodeIdentity } from "@millwright/emulators/ec2";
import { refuse } from "@millwright/emulators/server";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { aCloud, aContext, aMachine, aRequest } from "../testing/aws-cloud.ts";

const secret = { useDefaultCredentialChain: "true", userData: "u" };
const roleArn = "arn:aws:iam::123456789012:role/machines";
const request = aRequest(aMachine("m"), {}, secret);
/** An endpoint without a server. */
const closedPort = "http://127.0.0.1:1";

/** An EC2 that takes no keys but those which it issues, and a node's servers of credentials. The SDK renews what ends within five minutes: such credentials with every request. */
async function aNode(identity: NodeIdentity, sessionMs = 3_600_000) {
  const cloud = await aCloud({ accessKeys: {}, webIdentities: { [roleArn]: "good" }, sessionMs });
  const node = createCredentialServer(cloud.ec2.world, identity);
  const { url: nodeUrl } = await node.listen();
  onTestFinished(async () => {
    await node.close();
    expect(node.failures).toEqual([]);
  });
  return { ...cloud, node, nodeUrl };
}

const providerVariables =
  /^AWS_(PROFILE|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|ROLE_ARN|WEB_IDENTITY_TOKEN_FILE|CONTAINER_.*|EC2_METADATA_.*)$/;

describe("credentials of the environment", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-aws-"));
    for (const name of Object.keys(process.env)) if (providerVariables.test(name)) vi.stubEnv(name, undefined);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });

  const aFile = async (content: string): Promise<string> => {
    const file = join(folder, "token");
    await writeFile(file, content);
    return file;
  };

  it("of an instance profile come from IMDSv2, once for many calls", async () => {
    const { ec2, driver, node, nodeUrl } = await aNode({ role: "controller" });
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nodeUrl);
    await driver.createMachine(request, aContext());
    await driver.getMachineStatus(request, aContext());
    expect(node.log.requests.map(({ operation }) => operation)).toEqual(["Token", "Role", "Credentials"]);
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("of an instance profile are renewed before they expire", async () => {
    const { ec2, driver, node, nodeUrl } = await aNode({ role: "controller" }, 60_000);
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nodeUrl);
    await driver.createMachine(request, aContext());
    // What was issued before is good no longer.
    ec2.world.accessKeys?.clear();
    node.log.clear();
    await expect(driver.getMachineStatus(request, aContext())).resolves.toBeDefined();
    expect(node.log.count("Credentials")).toBeGreaterThan(0);
  });

  it("of EKS Pod Identity come from its agent, with the token that the file has then", async () => {
    const { ec2, driver, node, nodeUrl } = await aNode({ podToken: "first" }, 60_000);
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${nodeUrl}/v1/credentials`);
    vi.stubEnv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", await aFile("first"));
    await driver.createMachine(request, aContext());
    ec2.world.accessKeys?.clear();
    node.identity.podToken = "second";
    await aFile("second");
    await expect(driver.getMachineStatus(request, aContext())).resolves.toBeDefined();
    expect(new Set(node.log.requests.map(({ operation }) => operation))).toEqual(new Set(["PodIdentity"]));
  });

  it("of a web identity come from STS, before those of the node", async () => {
    const { ec2, driver, node, nodeUrl } = await aNode({ role: "controller", podToken: "first" });
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nodeUrl);
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${nodeUrl}/v1/credentials`);
    vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", await aFile("good"));
    vi.stubEnv("AWS_ROLE_ARN", roleArn);
    await driver.createMachine(request, aContext());
    expect(ec2.log.count("AssumeRoleWithWebIdentity")).toBe(1);
    expect(node.log.count()).toBe(0);
  });

  it("that are keys or a profile go first, as in the SDK's own chain", async () => {
    const { ec2, driver } = await aNode({});
    ec2.world.accessKeys?.set("AKIA7", { secretAccessKey: "of-a-profile", account: "7" });
    vi.stubEnv("AWS_PROFILE", "work");
    vi.stubEnv("AWS_CONFIG_FILE", join(folder, "none"));
    vi.stubEnv(
      "AWS_SHARED_CREDENTIALS_FILE",
      await aFile("[work]\naws_access_key_id = AKIA7\naws_secret_access_key = of-a-profile\n"),
    );
    await driver.createMachine(request, aContext());
    expect(ec2.inventory().instances.map(({ account }) => account)).toEqual(["7"]);
  });

  it.each<[string, Record<string, string>, string, RegExp]>([
    [
      "IMDS is unreachable",
      { AWS_EC2_METADATA_SERVICE_ENDPOINT: closedPort },
      "Unavailable",
      /the instance metadata service \(IMDSv2\) is unreachable, or its hop limit/,
    ],
    [
      "the Pod Identity agent is unreachable",
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${closedPort}/v1/credentials` },
      "Unavailable",
      /the container credentials endpoint .* is unreachable or failed: .*ECONNREFUSED/,
    ],
    [
      "the endpoint of the container is invalid for the SDK",
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://example.com/" },
      "Unavailable",
      /the container credentials endpoint .*URL not accepted/,
    ],
    [
      "the token file is missing",
      { AWS_WEB_IDENTITY_TOKEN_FILE: "/none/token", AWS_ROLE_ARN: roleArn },
      "Unauthenticated",
      /the token file that AWS_WEB_IDENTITY_TOKEN_FILE names cannot be read \(ENOENT\)/,
    ],
    [
      "the web identity has no role",
      { AWS_WEB_IDENTITY_TOKEN_FILE: "/none/token" },
      "Unauthenticated",
      /STS gave no credentials: Web identity configuration not specified/,
    ],
    [
      "the profile does not exist",
      { AWS_PROFILE: "missing", AWS_CONFIG_FILE: "/none/a", AWS_SHARED_CREDENTIALS_FILE: "/none/b" },
      "Unauthenticated",
      /the AWS profile or keys of the environment gave no credentials/,
    ],
  ])("fail with the name of their server when %s", { timeout: 30_000 }, async (_, env, code, message) => {
    const { ec2, driver } = await aNode({});
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(ec2.log.count()).toBe(0);
  });

  it("fail with the name of IMDS when the instance has no profile", async () => {
    const { driver, nodeUrl } = await aNode({});
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", nodeUrl);
    await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/\(IMDSv2\) has no credentials: attach an instance profile/),
    });
  });

  it("fail with the name of the Pod Identity agent when it refuses the token", { timeout: 30_000 }, async () => {
    const { driver, nodeUrl } = await aNode({ podToken: "first" });
    vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${nodeUrl}/v1/credentials`);
    vi.stubEnv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", await aFile("other"));
    const error: unknown = await driver.getMachineStatus(request, aContext()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/Pod Identity agent.* gave no credentials: Server responded with status: 400/),
    });
    expect(String(error)).not.toContain("other");
  });

  it("fail with the name of STS when it is unreachable, also with a token file of the secret", async () => {
    const { ec2, driver } = await aNode({});
    const identity = { workloadIdentityTokenFile: await aFile("good"), roleARN: roleArn, userData: "u" };
    ec2.faults.add({ operation: "AssumeRoleWithWebIdentity", times: 10, end: { kind: "reset" } });
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), {}, identity), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(/: STS is unreachable/),
    });
    ec2.faults.clear();
    const end = refuse("InternalFailure", { status: 500 });
    ec2.faults.add({ operation: "AssumeRoleWithWebIdentity", times: 10, end });
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), {}, identity), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(/: STS\b/),
    });
  });
});
