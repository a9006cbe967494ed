import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aCloud, aContext, aMachine, aRequest, plainSecret } from "../testing/aws-cloud.ts";

const accessKeys = { AKIA1: { secretAccessKey: "first-secret", account: "1" } };
const roleArn = "arn:aws:iam::123456789012:role/machines";

describe("credentials", () => {
  it.each<[string, Record<string, string>, string]>([
    ["an unknown key", { accessKeyID: "AKIA9" }, "AuthFailure"],
    ["a wrong secret", { secretAccessKey: "wrong-secret" }, "SignatureDoesNotMatch"],
  ])("that EC2 does not know are Unauthenticated: %s", async (_, change, code) => {
    const { driver } = await aCloud({ accessKeys });
    const error: unknown = await driver
      .getMachineStatus(aRequest(aMachine("m"), {}, { ...plainSecret, ...change }), aContext())
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "Unauthenticated", message: expect.stringContaining(code) });
    expect(String(error)).not.toContain("wrong-secret");
  });

  it("that have changed are used by the next call", async () => {
    const { ec2, driver } = await aCloud({ accessKeys });
    await driver.createMachine(aRequest(aMachine("a")), aContext());
    ec2.world.accessKeys?.clear();
    ec2.world.accessKeys?.set("AKIA2", { secretAccessKey: "second-secret", account: "1" });
    await expect(driver.getMachineStatus(aRequest(aMachine("a")), aContext())).rejects.toMatchObject({
      code: "Unauthenticated",
    });
    const rotated = { ...plainSecret, accessKeyID: "AKIA2", secretAccessKey: "second-secret" };
    await expect(driver.getMachineStatus(aRequest(aMachine("a"), {}, rotated), aContext())).resolves.toBeDefined();
  });

  it("that change during 100 creations: every machine gets one VM", { timeout: 30_000 }, async () => {
    const { ec2, driver } = await aCloud({ accessKeys, latencyMs: 20 });
    let secret: Readonly<Record<string, string>> = plainSecret;
    const create = async (name: string): Promise<void> => {
      for (;;) {
        const made = await driver
          .createMachine(aRequest(aMachine(name), {}, secret), aContext())
          .catch((error: unknown) => error);
        if (!(made instanceof Error)) return;
        // A launch that was accepted is not rejected afterwards.
        expect(made).toMatchObject({ code: expect.stringMatching(/^(Unauthenticated|Unavailable)$/) });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const creations = Array.from({ length: 100 }, (_, index) => create(`m-${index}`));
    await expect.poll(() => ec2.inventory().instances.length, { timeout: 10_000 }).toBeGreaterThan(30);
    ec2.world.accessKeys?.set("AKIA2", { secretAccessKey: "second-secret", account: "1" });
    ec2.world.accessKeys?.delete("AKIA1");
    secret = { ...plainSecret, accessKeyID: "AKIA2", secretAccessKey: "second-secret" };
    await Promise.all(creations);
    const names = ec2.inventory().instances.map(({ tags }) => tags.get("Name"));
    expect([names.length, new Set(names).size]).toEqual([100, 100]);
  });

  it("of two classes are never mixed", async () => {
    const keys = { ...accessKeys, AKIA2: { secretAccessKey: "second-secret", account: "2" } };
    const { ec2, driver } = await aCloud({ accessKeys: keys });
    const other = { ...plainSecret, accessKeyID: "AKIA2", secretAccessKey: "second-secret" };
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const request = aRequest(aMachine(`m-${index}`), {}, index % 2 === 0 ? plainSecret : other);
        const machineClass = { ...request.machineClass, name: `pool-${index % 2}` };
        await driver.createMachine({ ...request, machineClass }, aContext());
      }),
    );
    const accounts = ec2
      .inventory()
      .instances.map(({ account, tags }) => [tags.get("millwright.dev/machine-class"), account]);
    expect(accounts.every(([pool, account]) => (pool === "pool-0") === (account === "1"))).toBe(true);
    expect(accounts).toHaveLength(20);
  });
});

describe("a web identity", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-aws-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const withToken = async (token: string, role = roleArn) => {
    const file = join(folder, "token");
    await writeFile(file, token);
    return { file, secret: { workloadIdentityTokenFile: file, roleARN: role, userData: "u" } };
  };

  it("is exchanged for credentials, once for many calls", async () => {
    const { ec2, driver } = await aCloud({ accessKeys: {}, webIdentities: { [roleArn]: "good" } });
    const { secret } = await withToken("good");
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    await driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext());
    const exchanges = ec2.log.requests.filter(({ operation }) => operation === "AssumeRoleWithWebIdentity");
    expect(exchanges.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(ec2.log.requests.at(-1)?.headers["x-amz-security-token"]).toBeDefined();
  });

  it("is read from its file and exchanged again before the credentials expire", async () => {
    // The SDK renews what ends within five minutes.
    const sessionMs = 60_000;
    const { ec2, driver } = await aCloud({ accessKeys: {}, webIdentities: { [roleArn]: "good" }, sessionMs });
    const { secret, file } = await withToken("good");
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    ec2.world.webIdentities.set(roleArn, "newer");
    await writeFile(file, "newer");
    ec2.log.clear();
    await driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext());
    const exchange = ec2.log.requests.find(({ operation }) => operation === "AssumeRoleWithWebIdentity");
    expect(exchange?.body).toContain("WebIdentityToken=newer");
  });

  it.each<[string, string, string | undefined]>([
    ["an expired token", "expired", undefined],
    ["a token that STS does not know", "bad", undefined],
    ["a role that may not be assumed", "good", "arn:aws:iam::123456789012:role/none"],
  ])("is refused with %s", async (_, token, role) => {
    const { driver } = await aCloud({ accessKeys: {}, webIdentities: { [roleArn]: "good" } });
    const { secret } = await withToken(token, role);
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext())).rejects.toMatchObject({
      code: expect.stringMatching(/^(Unauthenticated|PermissionDenied)$/),
    });
  });

  it("that STS never exchanges keeps no call beyond its deadline, and is asked for again after the time for one request", async () => {
    const accounts = { accessKeys: {}, webIdentities: { [roleArn]: "good" } };
    const { ec2, driver } = await aCloud(accounts, { requestTimeoutMs: 1_000 });
    const { secret } = await withToken("good");
    const request = aRequest(aMachine("m"), {}, secret);
    ec2.faults.add({ operation: "AssumeRoleWithWebIdentity", times: 100, end: { kind: "hang" } });
    const deadline = new AbortController();
    const outcome = driver.getNodeTemplate?.(request, aContext(deadline.signal)).catch((error: unknown) => error);
    await expect.poll(() => ec2.log.count("AssumeRoleWithWebIdentity"), { timeout: 10_000 }).toBe(1);
    deadline.abort(new DOMException("too late", "TimeoutError"));
    expect(await outcome).toMatchObject({ code: "DeadlineExceeded" });
    await expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({ code: "DeadlineExceeded" });
    ec2.faults.clear();
    await vi.waitFor(
      () => expect(driver.getMachineStatus(request, aContext())).rejects.toMatchObject({ code: "NotFound" }),
      10_000,
    );
  });

  it("names the key of the secret when its file is not there", async () => {
    const { driver } = await aCloud();
    const secret = { workloadIdentityTokenFile: join(folder, "none"), roleARN: roleArn, userData: "u" };
    await expect(driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext())).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining("workloadIdentityTokenFile"),
    });
  });
});
