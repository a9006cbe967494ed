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
  // There before the first: Prometheus sees no increase in a series that starts with 1.
  expect(first).toContain('millwright_held_deletions{cause="creation"} 0');
  expect(first).toContain('millwright_deletions_total{cause="orphan-vm"} 0');
  expect(first).not.toContain('millwright_held_deletions{cause="orphan-vm"}');
  held = new Map();
  begun = new Map([["scale-down", 5]]);
  const second = await registry.metrics();
  expect(second).toContain('millwright_held_deletions{cause="parent"} 0');
  expect(second).toContain('millwright_deletions_total{cause="scale-down"} 5');
});
