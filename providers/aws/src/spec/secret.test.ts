import { secretProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createAwsDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, plainSecret } from "../testing/aws-cloud.ts";

const accessKeys = { AKIA1: { secretAccessKey: "first-secret", account: "1" } };
const roleArn = "arn:aws:iam::123456789012:role/machines";

describe("the class secret", () => {
  const problemsOf = (data: Readonly<Record<string, string>>) => secretProblems(createAwsDriver(), data);

  it.each<[string, Record<string, string>]>([
    ["the names of the driver", plainSecret],
    ["the names of the infrastructure", { providerAccessKeyId: "a", providerSecretAccessKey: "b", userData: "u" }],
    ["a web identity", { workloadIdentityTokenFile: "/token", roleARN: roleArn, userData: "u" }],
    ["an empty first name and a second one", { ...plainSecret, providerAccessKeyId: "" }],
    ["nothing but the choice of the environment's credentials", { useDefaultCredentialChain: "true", userData: "u" }],
    ["keys, and the environment's credentials refused", { ...plainSecret, useDefaultCredentialChain: "false" }],
    ["keys, and no choice", { ...plainSecret, useDefaultCredentialChain: "" }],
    ["other keys beside", { ...plainSecret, region: "eu-west-1" }],
  ])("may hold %s", async (_, data) => {
    expect(await problemsOf(data)).toEqual([]);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "no access key",
      { secretAccessKey: "b", userData: "u" },
      /^secret\.providerAccessKeyId: is required \("providerAccessKeyId" or "accessKeyID" or "accessKeyId"\)/,
    ],
    ["no secret key", { accessKeyID: "a", userData: "u" }, /^secret\.providerSecretAccessKey: is required/],
    ["an access key of blanks", { ...plainSecret, accessKeyID: " \n" }, /^secret\.providerAccessKeyId: /],
    [
      "no secret key, and names the other way",
      { accessKeyID: "a", userData: "u" },
      /"useDefaultCredentialChain" is "true"/,
    ],
    [
      "a choice that is none",
      { ...plainSecret, useDefaultCredentialChain: "yes" },
      /^secret\.useDefaultCredentialChain: must be "true" or "false"/,
    ],
    [
      "a token file and the environment's credentials",
      { useDefaultCredentialChain: "true", workloadIdentityTokenFile: "/token", userData: "u" },
      /^secret\.workloadIdentityTokenFile: excludes "useDefaultCredentialChain"/,
    ],
    [
      "an access key and the environment's credentials",
      { useDefaultCredentialChain: "true", accessKeyID: "a", userData: "u" },
      /^secret\.accessKeyID: excludes/,
    ],
    ["no user data", { accessKeyID: "a", secretAccessKey: "b" }, /^secret\.userData: is required/],
    [
      "an empty token file",
      { ...plainSecret, workloadIdentityTokenFile: "", roleARN: roleArn },
      /^secret\.workloadIdentityTokenFile: /,
    ],
    ["a token file and no role", { ...plainSecret, workloadIdentityTokenFile: "/token" }, /^secret\.roleARN: /],
  ])("is refused with %s", async (_, data, expected) => {
    expect(await problemsOf(data)).toEqual([expect.stringMatching(expected)]);
  });

  it("is trimmed, user data is not", async () => {
    const { ec2, driver } = await aCloud({ accessKeys });
    const secret = { ...plainSecret, accessKeyID: " AKIA1\n", secretAccessKey: "first-secret\n" };
    await driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());
    expect(ec2.inventory().instances).toHaveLength(1);
  });

  it("is asked for by name when a key is missing in a call", async () => {
    const { driver } = await aCloud();
    await expect(
      driver.getMachineStatus(aRequest(aMachine("m"), {}, { userData: "u" }), aContext()),
    ).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/"providerAccessKeyId" or "accessKeyID".*"useDefaultCredentialChain" is "true"/),
    });
  });
});
