import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { countFailedVmLists } from "./failed-vm-lists.ts";

it("counts lists that failed, by class and reason", async () => {
  const registry = new Registry();
  const count = countFailedVmLists(registry, "shoot");
  count("small", "Internal");
  count("small", "Internal");
  count("small", "VMsNotListed");
  const metrics = await registry.metrics();
  expect(metrics).toContain(
    'millwright_vm_list_failures_total{namespace="shoot",machine_class="small",reason="Internal"} 2',
  );
  expect(metrics).toContain(
    'millwright_vm_list_failures_total{namespace="shoot",machine_class="small",reason="VMsNotListed"} 1',
  );
});
