import { expect, it } from "vitest";
import { createListedVms } from "./listed-vms.ts";

it("one class is responsible for a VM that several list, as long as it lists it", () => {
  let nowMs = 0;
  const listed = createListedVms(1_000, { monotonicMs: () => nowMs });
  const vms = [{ providerId: "vm", machineName: "m" }];
  listed.record("b", vms);
  expect(listed.isFirst("b", "vm")).toBe(true);
  listed.record("a", vms);
  expect([listed.isFirst("a", "vm"), listed.isFirst("b", "vm"), listed.isFirst("b", "other")]).toEqual([
    true,
    false,
    true,
  ]);
  nowMs = 1_000;
  expect(listed.isFirst("b", "vm")).toBe(true);
  listed.record("a", []);
  expect(listed.isFirst("b", "vm")).toBe(true);
  listed.record("a", vms);
  listed.forget("a");
  expect(listed.isFirst("b", "vm")).toBe(true);
});
