import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import { matchNodeByProviderId, type NodeMatch, providerIdKey } from "./node-match.ts";

const arm = "/resourceGroups/Shoot/providers/Microsoft.Compute/virtualMachines/pool-7f";

test.each<[string, string, string, NodeMatch]>([
  ["the region and a zone of AWS", "aws:///eu-west-1/i-0a1b", "aws:///eu-west-1a/i-0a1b", "same"],
  ["three and two slashes of GCP", "gce:///p/europe-west1-b/pool-7f", "gce://p/europe-west1-b/pool-7f", "same"],
  [
    "the short form and a resource id of Azure",
    "azure:///westeurope/POOL-7f",
    `azure:///subscriptions/1${arm}`,
    "same",
  ],
  ["OpenStack with and without a region", "openstack:///3f2a", "openstack://eu-de-1/3f2a", "same"],
  ["one text without a scheme", "cn-hangzhou.i-0a1b", "cn-hangzhou.i-0a1b", "same"],
  ["two VMs of AWS", "aws:///eu-west-1/i-0a1b", "aws:///eu-west-1a/i-0a1c", "different"],
  ["a VM and a pod of Fargate", "aws:///eu-west-1/i-0a1b", "aws:///eu-west-1a/0aa/fargate-ip-1", "different"],
  ["two texts without a scheme", "vm-1", "vm-2", "unknown"],
  ["two schemes", "onmetal://ns/m-1", "ironcore://ns/m-1", "unknown"],
  ["a Node without an id", "aws:///eu-west-1/i-0a1b", "", "unknown"],
  ["a Machine without an id", "", "aws:///eu-west-1a/i-0a1b", "unknown"],
  ["no ids", "", "", "unknown"],
  ["an id without a last segment", "aws:///eu-west-1/i-0a1b", "aws:///eu-west-1a/", "unknown"],
])("compares %s", (_, vm, node, expected) => {
  expect(matchNodeByProviderId({ providerId: vm }, { providerId: node })).toBe(expected);
});

it("answers the same whichever side an id is on, in any case, and finds the same VM by its key", () => {
  const id = fc.oneof(
    fc.string(),
    fc.stringMatching(/^(aws|gce):\/\/[/a-c]{0,5}$/),
    fc.constantFrom("AWS:///x/i-1", "aws://y/I-1"),
  );
  fc.assert(
    fc.property(id, id, (a, b) => {
      const match = matchNodeByProviderId({ providerId: a }, { providerId: b });
      expect(matchNodeByProviderId({ providerId: b }, { providerId: a })).toBe(match);
      expect(match !== "same" || providerIdKey(a) === providerIdKey(b)).toBe(true);
    }),
  );
});

it("has no key for an id without a last segment", () => {
  expect(["", undefined, "aws:///x/"].map(providerIdKey)).toEqual([undefined, undefined, undefined]);
});
