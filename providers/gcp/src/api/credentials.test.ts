import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  otherAccount,
  plainAccount,
  plainSecret,
  secretWith,
  serviceAccounts,
  statusWith,
} from "../testing/gcp-cloud.ts";
import { audience, impersonation, workloadIdentity } from "../testing/workload-identity.ts";

describe("a service account", () => {
  it("is exchanged for a token, once for many calls, and again before it expires", async () => {
    const clock = createSkippingClock();
    const { gce, driver } = await aCloud({ serviceAccounts, clock }, { clock });
    await driver.createMachine(aRequest(), aContext());
    await Promise.all(Array.from({ length: 20 }, () => statusWith(driver, plainSecret)));
    expect(gce.log.count("oauth2.token")).toBe(1);
    clock.skip(56 * 60_000);
    await statusWith(driver, plainSecret);
    expect(gce.log.count("oauth2.token")).toBe(2);
  });

  it("gets another token when the one that it has is refused", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    await driver.createMachine(aRequest(), aContext());
    gce.world.accessTokens.clear();
    await statusWith(driver, plainSecret);
    expect(gce.log.count("oauth2.token")).toBe(2);
  });

  it.each<[string, object, RegExp]>([
    [
      "Google does not know",
      { client_email: "unknown@my-project.iam.gserviceaccount.com" },
      /account not found \(invalid_grant\); check the service account/,
    ],
    ["has another key", { private_key: otherAccount.private_key }, /Invalid JWT Signature/],
    [
      "has no key",
      { private_key: "-----BEGIN PRIVATE KEY-----\nsecret-words\n-----END PRIVATE KEY-----" },
      /"private_key" .* is not a private key/,
    ],
  ])("that %s is Unauthenticated", async (_, change, message) => {
    const { driver } = await aCloud({ serviceAccounts });
    const error: unknown = await statusWith(driver, secretWith({ ...plainAccount, ...change })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "Unauthenticated", message: expect.stringMatching(message) });
    expect(String(error)).not.toContain("secret-words");
  });

  it("reports that the clock is wrong", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    const message =
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.";
    const body = JSON.stringify({ error: "invalid_grant", error_description: message });
    gce.faults.add({ operation: "oauth2.token", end: { kind: "reply", reply: { status: 400, body } } });
    await expect(statusWith(driver, plainSecret)).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining("check the clock of the machine"),
    });
  });

  it.each(["<html>ya29.half-a-token", '{"access_token": 7}'])(
    "with an unreadable response is Unavailable, without quoting it: %s",
    async (body) => {
      const { gce, driver } = await aCloud({ serviceAccounts });
      gce.faults.add({ operation: "oauth2.token", times: 9, end: { kind: "reply", reply: { status: 200, body } } });
      const error: unknown = await statusWith(driver, plainSecret).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "Unavailable" });
      expect(String(error)).not.toContain("ya29");
    },
  );

  it("that has changed is used by the next call", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    await driver.createMachine(aRequest(), aContext());
    await statusWith(driver, secretWith(otherAccount));
    expect([...gce.world.accessTokens.values()].map(({ user }) => user)).toEqual([
      plainAccount.client_email,
      otherAccount.client_email,
    ]);
  });

  it("that changes during 100 creations: every machine gets one VM", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts, latencyMs: 20 });
    let secret = plainSecret;
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
    await expect.poll(() => gce.inventory().instances.length).toBeGreaterThan(30);
    gce.world.serviceAccounts?.delete(plainAccount.client_email);
    gce.world.accessTokens.clear();
    secret = secretWith(otherAccount);
    await Promise.all(creations);
    const names = gce.inventory().instances.map(({ name }) => name);
    expect([names.length, new Set(names).size]).toEqual([100, 100]);
  });

  it("of two classes are never mixed", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts, operationMs: 1 });
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const secret = index % 2 === 0 ? plainSecret : secretWith(otherAccount);
        const request = aRequest(aMachine(`m-${index}`), {}, secret);
        const machineClass = { ...request.machineClass, name: `pool-${index % 2}` };
        await driver.createMachine({ ...request, machineClass }, aContext());
      }),
    );
    const users = [...gce.world.operations.values()].map(({ targetName, user }) => [
      Number(targetName.slice(2)) % 2,
      user,
    ]);
    expect(users.every(([pool, user]) => (pool === 0) === (user === plainAccount.client_email))).toBe(true);
    expect(users).toHaveLength(20);
  });
});

describe("a workload identity", () => {
  const workloadIdentities = { [audience]: "good" };

  it.each<[string, object, string]>([
    ["itself", {}, `principal:${audience}`],
    [
      "a service account",
      { service_account_impersonation_url: impersonation },
      "machines@my-project.iam.gserviceaccount.com",
    ],
  ])("makes VMs as %s", async (_, more, user) => {
    const { gce, driver } = await aCloud({ workloadIdentities }, { readTokenFile: () => Promise.resolve("good\n") });
    const secret = secretWith({ ...workloadIdentity, ...more });
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    await statusWith(driver, secret);
    expect([...gce.world.operations.values()]).toMatchObject([{ user }]);
    expect(gce.log.count("sts.token")).toBe(1);
    expect(gce.log.count("oauth2.token")).toBe(0);
  });

  it.each<[string, string, object, RegExp]>([
    ["a token that STS does not take", "bad", {}, /invalid_grant/],
    ["an unknown audience", "good", { audience: "//other" }, /invalid_target.*check the audience/],
    ["an empty token", " ", {}, /is empty/],
  ])("is refused with %s", async (_, token, more, message) => {
    const { driver } = await aCloud({ workloadIdentities }, { readTokenFile: () => Promise.resolve(token) });
    await expect(statusWith(driver, secretWith({ ...workloadIdentity, ...more }))).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(message),
    });
  });

  it("reads its file again for each new token, because it changes", async () => {
    const clock = createSkippingClock();
    let inFile = "good";
    const options = { clock, readTokenFile: () => Promise.resolve(inFile) };
    const { gce, driver } = await aCloud({ workloadIdentities, clock }, options);
    const secret = secretWith({ ...workloadIdentity, service_account_impersonation_url: impersonation });
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    inFile = "better";
    gce.world.workloadIdentities.set(audience, inFile);
    clock.skip(3_600_000);
    await expect(statusWith(driver, secret)).resolves.toMatchObject({ nodeName: "m" });
    expect(gce.log.count("sts.token")).toBe(2);
  });

  it("names its file when that is not there", async () => {
    const { driver } = await aCloud({ workloadIdentities });
    await expect(statusWith(driver, secretWith(workloadIdentity))).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/gardener\.cloud\/workload-identity\/token, cannot be read \(ENOENT\)/),
    });
  });
});
