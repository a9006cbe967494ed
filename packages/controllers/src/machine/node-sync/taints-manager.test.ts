import { expect, it } from "vitest";
import { taintsManagerOf } from "./taints-manager.ts";

const ofTaints = { "f:spec": { "f:taints": {} } };
const managed = (...managedFields: readonly unknown[]) => taintsManagerOf({ metadata: { managedFields } });

it("names the field manager that changed the taints last", () => {
  expect(
    managed(
      { manager: "kubelet", time: "2026-01-01T00:00:03Z", fieldsV1: { "f:status": {} } },
      { manager: "kubectl-taint", time: "2026-01-01T00:00:02Z", fieldsV1: ofTaints },
      { manager: "millwright", time: "2026-01-01T00:00:01Z", fieldsV1: ofTaints },
    ),
  ).toBe("kubectl-taint");
});

it.each([
  [undefined],
  [[]],
  ["x"],
  [[null, "x", { manager: 1, fieldsV1: ofTaints }]],
  [[{ manager: "a", fieldsV1: 1 }]],
])("names none where the node shows none: %j", (managedFields) => {
  expect(taintsManagerOf({ metadata: { managedFields } })).toBeUndefined();
  expect(taintsManagerOf({ metadata: {} })).toBeUndefined();
});
