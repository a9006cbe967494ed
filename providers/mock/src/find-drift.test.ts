import { describe, expect, it } from "vitest";
import type { MockSpec } from "./spec.ts";
import { aCloud, aContext, aMachine, aSpec, codeOf, places } from "./testing/mock-cloud.ts";

const a = aMachine("pool-a-1");

describe.each(places)("comparing a VM with its class, %s", (place) => {
  /** What a VM of machine `a`, where one was made from a spec, has otherwise than another spec. */
  const driftOf = async (spec: MockSpec, made?: MockSpec) => {
    const { driver, requestFor, create } = await aCloud(place);
    if (made !== undefined) await create(a, made);
    return (await driver.findDrift?.(requestFor(a, spec), aContext()))?.differences;
  };

  it("finds nothing right after a creation, nor in labels that the class does not name", async () => {
    const spec = aSpec({ labels: { tier: "web" } });
    await expect(driftOf(spec, spec)).resolves.toEqual([]);
    await expect(driftOf(aSpec(), spec)).resolves.toEqual([]);
  });

  it("names each field that differs, in the words of the spec", async () => {
    const spec = aSpec({ machineType: "large", image: "new", labels: { tier: "web" } });
    await expect(driftOf(spec, aSpec())).resolves.toEqual([
      { field: "image", wanted: "new", found: "simulated" },
      { field: "labels.tier", wanted: "web", found: "" },
      { field: "machineType", wanted: "large", found: "small" },
    ]);
  });

  it("answers NotFound without a VM", async () => {
    await expect(codeOf(driftOf(aSpec()))).resolves.toBe("NotFound");
  });
});
