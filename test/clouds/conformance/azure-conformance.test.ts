import { defineConformance } from "@millwright/conformance";
import { afterAll, describe, it } from "vitest";
import { armFixture } from "./arm-fixture.ts";

defineConformance({
  name: "the driver of Azure",
  fixture: armFixture,
  level: "gold",
  graceMs: 20_000,
  describe,
  it,
  afterAll,
});
