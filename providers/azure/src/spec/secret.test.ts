import { secretProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, plainSecret, secretOf, secretWithout } from "../testing/azure-cloud.ts";
import { readCredentials } from "./secret.ts";

describe("the class secret", () => {
  it.each<[string, Readonly<Record<string, string>>, string[]]>([
    ["an application with a secret", plainSecret, []],
    [
      "the old names of MCM",
      { azureClientId: "a", azureClientSecret: "b", azureSubscriptionId: "c", azureTenantId: "d", userData: "u" },
      [],
    ],
    ["a workload identity", { ...secretWithout("clientSecret"), workloadIdentityTokenFile: "/token" }, []],
    ["nothing to prove itself with", secretWithout("clientSecret"), ["clientSecret"]],
    ["two proofs", { ...plainSecret, workloadIdentityTokenFile: "/token" }, ["workloadIdentityTokenFile"]],
    ["no client", secretWithout("clientID"), ["clientID"]],
    ["no subscription", secretWithout("subscriptionID"), ["subscriptionID"]],
    ["no tenant", secretWithout("tenantID"), ["tenantID"]],
    ["no user data", secretWithout("userData"), ["userData"]],
    ["blank user data", { ...plainSecret, userData: " \n" }, ["userData"]],
    ["an empty first name before a good second one", { ...plainSecret, clientID: " ", azureClientId: "a" }, []],
    [
      "nothing but the choice of the environment's identity",
      { useDefaultCredentialChain: "true", subscriptionID: "sub", userData: "u" },
      [],
    ],
    ["that choice without a subscription", { useDefaultCredentialChain: "true", userData: "u" }, ["subscriptionID"]],
    ["a secret, and the environment's identity refused", { ...plainSecret, useDefaultCredentialChain: "false" }, []],
    ["a secret, and no choice", { ...plainSecret, useDefaultCredentialChain: "" }, []],
    ["a choice that is none", { ...plainSecret, useDefaultCredentialChain: "yes" }, ["useDefaultCredentialChain"]],
    [
      "a secret and the environment's identity",
      { ...plainSecret, useDefaultCredentialChain: "true" },
      ["clientSecret"],
    ],
    [
      "a token file and the environment's identity",
      { ...secretWithout("clientSecret"), workloadIdentityTokenFile: "/token", useDefaultCredentialChain: "true" },
      ["workloadIdentityTokenFile"],
    ],
  ])("with %s", async (_, secret, expected) => {
    const problems = await secretProblems(createAzureDriver(), secret);
    expect(problems).toEqual(expected.map((key): unknown => expect.stringMatching(`^secret\\.${key}: `)));
  });

  it("gives credentials without the space around them", () => {
    expect(readCredentials(secretOf({ ...plainSecret, clientSecret: " s\n", tenantID: "t " }))).toEqual({
      clientId: "client",
      tenantId: "t",
      subscriptionId: "sub-1",
      proof: { kind: "secret", secret: "s" },
    });
  });

  it("without a proof names both ways", async () => {
    const problems = await secretProblems(createAzureDriver(), secretWithout("clientSecret"));
    expect(problems[0]).toMatch(
      /"azureClientSecret".*"workloadIdentityTokenFile".*"useDefaultCredentialChain" is "true"/,
    );
  });

  it("that lacks a key at the time of a call is Unauthenticated, and names it", async () => {
    const { driver } = await aCloud();
    await expect(
      driver.getMachineStatus(aRequest(aMachine("m"), {}, secretWithout("tenantID")), aContext()),
    ).rejects.toMatchObject({ code: "Unauthenticated", message: expect.stringContaining("tenantID") });
  });
});
