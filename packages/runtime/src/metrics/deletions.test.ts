import type { BudgetRoom, DeletionBudget } from "@millwright/controllers";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { measureDeletions } from "./deletions.ts";

it("reports what the budget holds at the moment, and all that it allowed", async () => {
  let held: ReturnType<DeletionBudget["heldByCause"]> = new Map([["parent", 60]]);
  let begun: ReturnType<DeletionBudget["begunByCause"]> = new Map([["scale-down", 2]]);
  const registry = new Registry();
  measureDeletions(registry, "shoot", { heldByCause: () => held, begunByCause: () => begun, rooms: () => [] });
  const first = await registry.metrics();
  expect(first).toContain('millwright_held_deletions{namespace="shoot",cause="parent"} 60');
  expect(first).toContain('millwright_deletions_total{namespace="shoot",cause="scale-down"} 2');
  // There before the first: Prometheus sees no increase in a series that starts with 1.
  expect(first).toContain('millwright_held_deletions{namespace="shoot",cause="creation"} 0');
  expect(first).toContain('millwright_deletions_total{namespace="shoot",cause="orphan-vm"} 0');
  expect(first).not.toContain('millwright_held_deletions{namespace="shoot",cause="orphan-vm"}');
  held = new Map();
  begun = new Map([["scale-down", 5]]);
  const second = await registry.metrics();
  expect(second).toContain('millwright_held_deletions{namespace="shoot",cause="parent"} 0');
  expect(second).toContain('millwright_deletions_total{namespace="shoot",cause="scale-down"} 5');
});

it("reports what the budget leaves, and removes series of what is gone", async () => {
  let rooms: readonly BudgetRoom[] = [
    { rule: "share", scope: { kind: "MachineDeployment", name: "pool" }, limit: 15, remaining: 4 },
    { rule: "rate", scope: { kind: "Namespace", name: "shoot" }, limit: 60, remaining: 49 },
  ];
  const registry = new Registry();
  measureDeletions(registry, "shoot", {
    heldByCause: () => new Map(),
    begunByCause: () => new Map(),
    rooms: () => rooms,
  });
  const first = await registry.metrics();
  expect(first).toContain(
    'millwright_deletion_budget_remaining{rule="share",kind="MachineDeployment",name="pool"} 4\n' +
      'millwright_deletion_budget_remaining{rule="rate",kind="Namespace",name="shoot"} 49\n',
  );
  expect(first).toContain('millwright_deletion_budget_limit{rule="share",kind="MachineDeployment",name="pool"} 15\n');
  rooms = rooms.slice(1);
  const second = await registry.metrics();
  expect(second).not.toContain("pool");
  expect(second).toContain('millwright_deletion_budget_limit{rule="rate",kind="Namespace",name="shoot"} 60\n');
});
