import { secretProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createGcpDriver } from "../driver.ts";
import { aCloud, plainAccount, plainSecret, secretWith, statusWith } from "../testing/gcp-cloud.ts";
import { impersonation, workloadIdentity } from "../testing/workload-identity.ts";

describe("the class secret", () => {
  const problemsOf = (data: Readonly<Record<string, string>>) => secretProblems(createGcpDriver(), data);
  const json = JSON.stringify(plainAccount);
  const { project_id: _, ...withoutProject } = plainAccount;

  it.each<[string, Readonly<Record<string, string>>]>([
    ["serviceAccountJSON", plainSecret],
    ["serviceaccount.json", { "serviceaccount.json": json, userData: "u" }],
    ["credentialsConfig", { credentialsConfig: json, userData: "u" }],
    ["empty user data", { ...plainSecret, userData: "" }],
    ["a project beside", { serviceAccountJSON: JSON.stringify(withoutProject), projectID: " p ", userData: "u" }],
    ["a workload identity", secretWith(workloadIdentity)],
    [
      "one that speaks for a service account",
      secretWith({ ...workloadIdentity, service_account_impersonation_url: impersonation }),
    ],
    ["blanks around", { ...plainSecret, serviceAccountJSON: `\n ${json}\n` }],
    ["an empty first key", { serviceAccountJSON: "", credentialsConfig: json, userData: "u" }],
    ["other keys beside", { ...plainSecret, region: "x" }],
  ])("may hold %s", async (_name, data) => {
    expect(await problemsOf(data)).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["no credentials", { userData: "u" }, /^secret\.serviceAccountJSON: has none of the keys/],
    ["no user data", { serviceAccountJSON: json }, /^secret\.userData: is required/],
    ["empty keys", { serviceAccountJSON: " ", credentialsConfig: "", userData: "u" }, /^secret\.serviceAccountJSON: /],
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
    ["no audience", secretWith({ ...workloadIdentity, audience: undefined }), /"audience" .* is required/],
    ["no key", secretWith({ ...plainAccount, private_key: "" }), /"private_key" .* is required/],
    [
      "a universe that is no domain",
      secretWith({ ...plainAccount, universe_domain: "a/b" }),
      /"universe_domain" .* must be a domain/,
    ],
    [
      "another STS",
      secretWith({ ...workloadIdentity, token_url: "https://evil.example.com" }),
      /"token_url" .* must be https:\/\/sts/,
    ],
    [
      "another file",
      secretWith({ ...workloadIdentity, credential_source: { file: "/etc/shadow" } }),
      /"credential_source\.file"/,
    ],
    [
      "a program",
      secretWith({ ...workloadIdentity, credential_source: { executable: { command: "sh" } } }),
      /"credential_source\.file"/,
    ],
    [
      "another token type",
      secretWith({ ...workloadIdentity, subject_token_type: "saml" }),
      /"subject_token_type" .* that of a JWT/,
    ],
    [
      "another impersonation",
      secretWith({
        ...workloadIdentity,
        service_account_impersonation_url: "https://evil.example.com/x:generateAccessToken",
      }),
      /"service_account_impersonation_url"/,
    ],
  ])("is refused with %s", async (_name, data, expected) => {
    const problems = await problemsOf(data);
    expect(problems).toEqual([expect.stringMatching(expected)]);
    expect(problems.join()).not.toContain(plainAccount.private_key.split("\n")[1]);
  });

  it("is asked for by name when it is wrong in a call", async () => {
    const { driver } = await aCloud();
    await expect(statusWith(driver, { userData: "u" })).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining('"serviceAccountJSON", "serviceaccount.json", "credentialsConfig"'),
    });
  });
});
