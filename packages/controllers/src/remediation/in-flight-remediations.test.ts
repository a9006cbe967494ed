import { expect, it } from "vitest";
import { createInFlightRemediations } from "./in-flight-remediations.ts";

it("holds one permit for each machine until it is given back", () => {
  const permits = createInFlightRemediations();
  permits.take("a", "deployment x");
  permits.take("a", "deployment x");
  permits.take("b", "deployment y");
  expect(permits.heldIn("deployment x")).toEqual(["a"]);
  expect(permits.heldIn("deployment z")).toEqual([]);
  expect([permits.holds("a"), permits.holds("c")]).toEqual([true, false]);
  expect(permits.release("a")).toBe("deployment x");
  expect(permits.release("a")).toBeUndefined();
  expect(permits.heldIn("deployment x")).toEqual([]);
  expect(permits.heldIn("deployment y")).toEqual(["b"]);
});
