import { describe, expect, it } from "vitest";
import { cloudAt, cloudNamed } from "./clouds.ts";

describe("the clouds of Azure", () => {
  it.each([
    ["AzurePublic", "management.azure.com", "login.microsoftonline.com", "management.azure.com"],
    ["AzureChina", "management.chinacloudapi.cn", "login.chinacloudapi.cn", "management.core.chinacloudapi.cn"],
    [
      "AzureGovernment",
      "management.usgovcloudapi.net",
      "login.microsoftonline.us",
      "management.core.usgovcloudapi.net",
    ],
  ] as const)("%s has addresses and a scope of its own", (name, endpoint, authority, scope) => {
    expect(cloudAt(name)).toEqual({
      endpoint: `https://${endpoint}`,
      authorityHost: `https://${authority}`,
      scope: `https://${scope}/.default`,
    });
  });

  it.each([
    ["azurechina", "AzureChina"],
    ["AZUREGOVERNMENT ", "AzureGovernment"],
    ["", "AzurePublic"],
  ])("%j names %s", (text, name) => {
    expect(cloudNamed(text)).toBe(name);
  });

  it("are overridden by a configured address", () => {
    const at = "https://arm.example";
    expect(cloudAt("AzureChina", at)).toEqual({ endpoint: at, authorityHost: at, scope: `${at}/.default` });
  });
});
