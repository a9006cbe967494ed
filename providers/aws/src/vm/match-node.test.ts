import { matchNodeByProviderId, type NodeMatch } from "@millwright/core";
import { expect, it, test } from "vitest";
import { createAwsDriver } from "../driver.ts";
import { providerIdOf } from "./provider-id.ts";

const vm = { providerId: providerIdOf("us-west-2", "i-0a1b2c3d4e5f60718") };

it("needs no rule of its own: the shared one is right for the ids of AWS", () => {
  expect(createAwsDriver().matchNode).toBeUndefined();
});

/** What cloud-provider-aws writes (`pkg/providers/v1/instances.go`), EKS on Fargate and EKS hybrid nodes. */
test.each<[string, string, NodeMatch]>([
  ["an availability zone", "aws:///us-west-2a/i-0a1b2c3d4e5f60718", "same"],
  ["the zone of an Outpost, which is one of the region", "aws:///us-west-2d/i-0a1b2c3d4e5f60718", "same"],
  ["a Local Zone", "aws:///us-west-2-lax-1a/i-0a1b2c3d4e5f60718", "same"],
  ["a Wavelength Zone", "aws:///us-west-2-wl1-sea-wlz-1/i-0a1b2c3d4e5f60718", "same"],
  ["no zone", "aws:////i-0a1b2c3d4e5f60718", "same"],
  ["the region, as this driver and MCM's write it", vm.providerId, "same"],
  ["another VM of the zone", "aws:///us-west-2a/i-0a1b2c3d4e5f60719", "different"],
  ["another VM of a Local Zone", "aws:///us-west-2-lax-1a/i-0a1b2c3d4e5f6071", "different"],
  [
    "a Fargate pod",
    "aws:///us-west-2a/0a1b2c3d4e-5f60718293a4b5c6/fargate-ip-10-0-1-7.us-west-2.compute.internal",
    "different",
  ],
  // Its node is named mi-…, as no EC2 VM is: the name decides.
  ["a hybrid node", "eks-hybrid:///us-west-2/shoot/mi-0a1b2c3d4e5f60718", "unknown"],
  ["no id yet", "", "unknown"],
])("the VM and a node with the id of %s", (_, providerId, expected) => {
  expect(matchNodeByProviderId(vm, { providerId })).toBe(expected);
});
