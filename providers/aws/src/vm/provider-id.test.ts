import { expect, it, test } from "vitest";
import { readProviderId } from "./provider-id.ts";

test.each<[string, string]>([
  ["aws:///eu-west-1/i-0a1b", "eu-west-1"],
  ["aws:///us-gov-west-1/i-0a1b", "us-gov-west-1"],
  ["aws:///eu-west-1a/i-0a1b", ""],
  ["aws:///us-west-2-lax-1a/i-0a1b", ""],
  ["aws:////i-0a1b", ""],
  ["aws:///evil.example.com/i-0a1b", ""],
])("%s names the region %j: a zone is none", (providerId, region) => {
  expect(readProviderId(providerId)).toEqual({ region, instanceId: "i-0a1b" });
});

it.each(["", "i-0a1b", "aws:///eu-west-1/", "aws:///eu-west-1/vm-1"])("refuses %j", (providerId) => {
  expect(() => readProviderId(providerId)).toThrow(/spec\.providerID .* must look like aws:/);
});
