import { contractRules, defineConformance, type FixtureFactory } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import mockFixture from "../../../providers/mock/src/testing/mock-fixture.ts";
import { armFixture } from "./arm-fixture.ts";
import { ec2Fixture } from "./ec2-fixture.ts";
import { gceFixture } from "./gce-fixture.ts";
import { inItsProcess, overGrpc } from "./served-fixture.ts";

/** They observe connections of the process of the suite, in which these drivers have sockets of their own. */
const ofConnections = new Set(["driver.idle-makes-no-calls", "network.declared-hosts-only"]);

const fixtures: Readonly<Record<string, FixtureFactory>> = {
  "the driver of the simulated cloud, over gRPC": overGrpc(mockFixture),
  "the driver of AWS, over gRPC": overGrpc(ec2Fixture("ip-name")),
  "the driver of GCP, over gRPC": overGrpc(gceFixture),
  "the driver of Azure, over gRPC": overGrpc(armFixture),
};

for (const [name, fixture] of Object.entries(fixtures))
  defineConformance({
    name,
    fixture,
    only: contractRules.map(({ id }) => id).filter((id) => !ofConnections.has(id)),
    level: "silver",
    graceMs: 200_000,
    describe,
    it,
    afterAll,
  });

defineConformance({
  name: "the driver of the simulated cloud, in a process of its own",
  fixture: inItsProcess("mock", mockFixture),
  level: "silver",
  graceMs: 200_000,
  describe,
  it,
  afterAll,
});
