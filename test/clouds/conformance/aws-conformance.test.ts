import { defineConformance } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import { ec2Fixture } from "./ec2-fixture.ts";

for (const hostnameType of ["ip-name", "resource-name"] as const) {
  defineConformance({
    name: `the driver of AWS, in a subnet of ${hostnameType}`,
    fixture: ec2Fixture(hostnameType),
    level: "gold",
    graceMs: 20_000,
    describe,
    it,
    afterAll,
  });
}
