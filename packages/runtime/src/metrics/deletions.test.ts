import type { DeletionBudget } from "@millwright/controllers";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureDeletions } from "./deletions.ts";

it("reports what the budget holds at the moment, and all that it allowed", async () => {
  let held: ReturnType<DeletionBudget["heldByCause"]> = new Map([["parent", 60]]);
  let begun: ReturnType<DeletionBudget["begunByCause"]> = new Map([["scale-down", 2]]);
  const registry = new Registry();
  measureDeletions(registry, { heldByCause: () => held, begunByCause: () => begun });
  const first = await registry.metrics();
  expect(first).toContain('millwright_held_deletions{cause="parent"} 60');
  expect(first).toContain('millwright_deletions_total{cause="scale-down"} 2');
  held = new Map();
  begun = new Map([["scale-down", 5]]);
  const second = await registry.metrics();
  expect(second).not.toContain('cause="parent"');
  expect(second).toContain('millwright_deletions_total{cause="scale-down"} 5');
});
