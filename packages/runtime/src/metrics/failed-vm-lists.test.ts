import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { countFailedVmLists } from "./failed-vm-lists.ts";

it("counts lists that failed, by class and reason", async () => {
  const registry = new Registry();
  const count = countFailedVmLists(registry, { namespace: "shoot", exists: () => true, monotonicMs: () => 0 });
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

it("removes the series of a deleted class an hour after its last failure", async () => {
  const registry = new Registry();
  let nowMs = 0;
  const count = countFailedVmLists(registry, {
    namespace: "shoot",
    exists: (name) => name === "small",
    monotonicMs: () => nowMs,
  });
  const classes = async () =>
    [...(await registry.metrics()).matchAll(/machine_class="(\w+)"/g)].map(([, name]) => name);
  for (const name of ["small", "deleted"]) count(name, "Internal");
  nowMs = 3_599_000;
  expect(await classes()).toEqual(["small", "deleted"]);
  nowMs = 3_601_000;
  expect(await classes()).toEqual(["small"]);
});
