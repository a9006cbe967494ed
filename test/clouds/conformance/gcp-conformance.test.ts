import { defineConformance } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import { gceFixture } from "./gce-fixture.ts";

defineConformance({
  name: "the driver of GCP",
  fixture: gceFixture,
  level: "gold",
  graceMs: 20_000,
  describe,
  it,
  afterAll,
});
