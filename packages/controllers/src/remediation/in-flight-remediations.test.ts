import { expect, it } from "vitest";
import { createInFlightRemediations } from "./in-flight-remediations.ts";

it("has one entry for each machine until it ends", () => {
  const inFlight = createInFlightRemediations();
  inFlight.start("a", "deployment x");
  inFlight.start("a", "deployment x");
  inFlight.start("b", "deployment y");
  expect(inFlight.inGroup("deployment x")).toEqual(["a"]);
  expect(inFlight.inGroup("deployment z")).toEqual([]);
  expect([inFlight.has("a"), inFlight.has("c")]).toEqual([true, false]);
  expect(inFlight.end("a")).toBe("deployment x");
  expect(inFlight.end("a")).toBeUndefined();
  expect(inFlight.inGroup("deployment x")).toEqual([]);
  expect(inFlight.inGroup("deployment y")).toEqual(["b"]);
});
