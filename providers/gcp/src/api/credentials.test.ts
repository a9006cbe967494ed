import { checkDriverSecret } from "@millwright/core";
import { createSkippingClock } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "../driver.ts";
import {
  aCloud,
  aContext,
  aMachine,
  aRequest,
  otherAccount,
  plainAccount,
  plainSecret,
  secretOf,
  secretWith,
  serviceAccounts,
} from "../testing/gcp-cloud.ts";

const audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/gardener";
const identity = {
  type: "external_account",
  project_id: "my-project",
  audience,
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: "https://sts.googleapis.com/v1/token",
  credential_source: { file: "/var/run/secrets/gardener.cloud/workload-identity/token" },
  universe_domain: "googleapis.com",
};
const impersonation =
  "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/machines@my-project.iam.gserviceaccount.com:generateAccessToken";
const status = (driver: ReturnType<typeof createGcpDriver>, secret: Readonly<Record<string, string>>) =>
  driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext());

describe("the class secret", () => {
  const problemsOf = async (data: Readonly<Record<string, string>>) => {
    const checked = await checkDriverSecret(createGcpDriver(), secretOf(data));
    return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  const json = JSON.stringify(plainAccount);
  const { project_id: _, ...withoutProject } = plainAccount;

  it.each<[string, Readonly<Record<string, string>>]>([
    ["serviceAccountJSON", plainSecret],
    ["serviceaccount.json", { "serviceaccount.json": json, userData: "u" }],
    ["credentialsConfig", { credentialsConfig: json, userData: "u" }],
    ["empty user data", { ...plainSecret, userData: "" }],
    ["a project beside", { serviceAccountJSON: JSON.stringify(withoutProject), projectID: " p ", userData: "u" }],
    ["a workload identity", secretWith(identity)],
    [
      "one that speaks for a service account",
      secretWith({ ...identity, service_account_impersonation_url: impersonation }),
    ],
    ["blanks around", { ...plainSecret, serviceAccountJSON: `\n ${json}\n` }],
    ["other keys beside", { ...plainSecret, region: "x" }],
  ])("may hold %s", async (_name, data) => {
    expect(await problemsOf(data)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["no credentials", { userData: "u" }, /^secret\.serviceAccountJSON: has none of the keys/],
    ["no user data", { serviceAccountJSON: json }, /^secret\.userData: is required/],
    [
      "an empty first key",
      { serviceAccountJSON: "", credentialsConfig: json, userData: "u" },
      /^secret\.serviceAccountJSON: /,
    ],
    ["no JSON", { serviceAccountJSON: "{private", userData: "u" }, /must be the JSON of a service account/],
    ["a list", { serviceAccountJSON: "[]", userData: "u" }, /must be a JSON object/],
    [
      "no project",
      secretWith(withoutProject),
      /"project_id" of key "serviceAccountJSON" is required, or key "projectID"/,
    ],
    ["a project of another type", secretWith({ ...plainAccount, project_id: 7 }), /"project_id" .* must be a text/],
    ["a project that is a path", secretWith({ ...plainAccount, project_id: "../x" }), /"project_id" .* must be the id/],
    ["another type", secretWith({ ...plainAccount, type: "authorized_user" }), /"type" .* must be service_account or/],
    [
      "a field that is not allowed",
      secretWith({ ...plainAccount, credential_source: {} }),
      /"credential_source" .* is not allowed/,
    ],
    [
      "a foreign token_uri",
      secretWith({ ...plainAccount, token_uri: "https://evil.example.com/token" }),
      /"token_uri" .* address of Google/,
    ],
    [
      "a look-alike token_uri",
      secretWith({ ...plainAccount, token_uri: "https://evilgoogleapis.com/token" }),
      /"token_uri"/,
    ],
    [
      "a token_uri without TLS",
      secretWith({ ...plainAccount, token_uri: "http://oauth2.googleapis.com/token" }),
      /"token_uri"/,
    ],
    ["no email", secretWith({ ...plainAccount, client_email: " " }), /"client_email" .* is required/],
    ["no audience", secretWith({ ...identity, audience: undefined }), /"audience" .* is required/],
    ["no key", secretWith({ ...plainAccount, private_key: "" }), /"private_key" .* is required/],
    [
      "a universe that is no domain",
      secretWith({ ...plainAccount, universe_domain: "a/b" }),
      /"universe_domain" .* must be a domain/,
    ],
    [
      "another STS",
      secretWith({ ...identity, token_url: "https://evil.example.com" }),
      /"token_url" .* must be https:\/\/sts/,
    ],
    [
      "another file",
      secretWith({ ...identity, credential_source: { file: "/etc/shadow" } }),
      /"credential_source\.file"/,
    ],
    [
      "a program",
      secretWith({ ...identity, credential_source: { executable: { command: "sh" } } }),
      /"credential_source\.file"/,
    ],
    [
      "another token type",
      secretWith({ ...identity, subject_token_type: "saml" }),
      /"subject_token_type" .* that of a JWT/,
    ],
    [
      "another impersonation",
      secretWith({ ...identity, service_account_impersonation_url: "https://evil.example.com/x:generateAccessToken" }),
      /"service_account_impersonation_url"/,
    ],
  ])("is refused with %s", async (_name, data, expected) => {
    const problems = await problemsOf(data);
    expect(problems).toEqual([expect.stringMatching(expected)]);
    expect(problems.join()).not.toContain(plainAccount.private_key.split("\n")[1]);
  });

  it("is asked for by name when it is wrong in a call", async () => {
    const { driver } = await aCloud();
    await expect(status(driver, { userData: "u" })).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining('"serviceAccountJSON", "serviceaccount.json", "credentialsConfig"'),
    });
  });
});

describe("a service account", () => {
  it("is exchanged for a token, once for many calls, and again before it expires", async () => {
    const clock = createSkippingClock();
    const { gce, driver } = await aCloud({ serviceAccounts, clock }, { clock });
    await driver.createMachine(aRequest(), aContext());
    await Promise.all(Array.from({ length: 20 }, () => status(driver, plainSecret)));
    expect(gce.log.count("oauth2.token")).toBe(1);
    clock.skip(56 * 60_000);
    await status(driver, plainSecret);
    expect(gce.log.count("oauth2.token")).toBe(2);
  });

  it("gets another token when the one that it has is refused", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    await driver.createMachine(aRequest(), aContext());
    gce.world.accessTokens.clear();
    await status(driver, plainSecret);
    expect(gce.log.count("oauth2.token")).toBe(2);
  });

  it.each<[string, object, RegExp]>([
    [
      "Google does not know",
      { client_email: "nobody@my-project.iam.gserviceaccount.com" },
      /account not found \(invalid_grant\); check the service account/,
    ],
    ["has another key", { private_key: otherAccount.private_key }, /Invalid JWT Signature/],
    [
      "has no key",
      { private_key: "-----BEGIN PRIVATE KEY-----\nsecret-words\n-----END PRIVATE KEY-----" },
      /"private_key" .* is no key/,
    ],
  ])("that %s is Unauthenticated", async (_, change, message) => {
    const { driver } = await aCloud({ serviceAccounts });
    const error: unknown = await status(driver, secretWith({ ...plainAccount, ...change })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "Unauthenticated", message: expect.stringMatching(message) });
    expect(String(error)).not.toContain("secret-words");
  });

  it("says that the clock is wrong", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    const message =
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.";
    const body = JSON.stringify({ error: "invalid_grant", error_description: message });
    gce.faults.add({ operation: "oauth2.token", end: { kind: "reply", reply: { status: 400, body } } });
    await expect(status(driver, plainSecret)).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining("check the clock of the machine"),
    });
  });

  it.each(["<html>ya29.half-a-token", '{"access_token": 7}'])(
    "that is answered with nonsense is Unavailable, and nothing of it is said: %s",
    async (body) => {
      const { gce, driver } = await aCloud({ serviceAccounts });
      gce.faults.add({ operation: "oauth2.token", times: 9, end: { kind: "reply", reply: { status: 200, body } } });
      const error: unknown = await status(driver, plainSecret).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "Unavailable" });
      expect(String(error)).not.toContain("ya29");
    },
  );

  it("that has changed is used by the next call", async () => {
    const { gce, driver } = await aCloud({ serviceAccounts });
    await driver.createMachine(aRequest(), aContext());
    await status(driver, secretWith(otherAccount));
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
        expect(made).toMatchObject({ code: "Unauthenticated" });
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
    const secret = secretWith({ ...identity, ...more });
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    await status(driver, secret);
    expect([...gce.world.operations.values()]).toMatchObject([{ user }]);
    expect(gce.log.count("sts.token")).toBe(1);
    expect(gce.log.count("oauth2.token")).toBe(0);
  });

  it.each<[string, string, object, RegExp]>([
    ["a token that STS does not take", "bad", {}, /invalid_grant/],
    ["an audience that nobody knows", "good", { audience: "//other" }, /invalid_target.*check the audience/],
    ["an empty token", " ", {}, /is empty/],
  ])("is refused with %s", async (_, token, more, message) => {
    const { driver } = await aCloud({ workloadIdentities }, { readTokenFile: () => Promise.resolve(token) });
    await expect(status(driver, secretWith({ ...identity, ...more }))).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(message),
    });
  });

  it("reads its file anew whenever it needs another token: the one in it changes", async () => {
    const clock = createSkippingClock();
    let inFile = "good";
    const options = { clock, readTokenFile: () => Promise.resolve(inFile) };
    const { gce, driver } = await aCloud({ workloadIdentities, clock }, options);
    const secret = secretWith({ ...identity, service_account_impersonation_url: impersonation });
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    inFile = "better";
    gce.world.workloadIdentities.set(audience, inFile);
    clock.skip(3_600_000);
    await expect(status(driver, secret)).resolves.toMatchObject({ nodeName: "m" });
    expect(gce.log.count("sts.token")).toBe(2);
  });

  it("names its file when that is not there", async () => {
    const { driver } = await aCloud({ workloadIdentities });
    await expect(status(driver, secretWith(identity))).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/gardener\.cloud\/workload-identity\/token, cannot be read \(ENOENT\)/),
    });
  });
});
