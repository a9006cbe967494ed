import { machineResource } from "@millwright/core/machine-api";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { countRefusedWrites } from "./refused-writes.ts";

it("counts refused writes by kind, verb and subresource", async () => {
  const registry = new Registry();
  const count = countRefusedWrites(registry, "shoot");
  const ref = { namespace: "shoot", name: "m" };
  count({ verb: "patch", type: machineResource, ref });
  count({ verb: "patch", type: machineResource, ref, subresource: "status" });
  count({ verb: "patch", type: machineResource, ref: { ...ref, name: "n" }, subresource: "status" });
  count({ verb: "delete", type: machineResource, ref });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("millwright"));
  expect(lines).toEqual([
    'millwright_refused_writes_total{namespace="shoot",kind="Machine",verb="patch",subresource=""} 1',
    'millwright_refused_writes_total{namespace="shoot",kind="Machine",verb="patch",subresource="status"} 2',
    'millwright_refused_writes_total{namespace="shoot",kind="Machine",verb="delete",subresource=""} 1',
  ]);
});
