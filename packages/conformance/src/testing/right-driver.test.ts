import { afterAll, describe, it } from "vitest";
import { defineConformance } from "../define-conformance.ts";
import { toyFixture } from "./toy-fixture.ts";

defineConformance({
  name: "the right driver",
  fixture: toyFixture(),
  level: "gold",
  graceMs: 20_000,
  describe,
  it,
  afterAll,
});
