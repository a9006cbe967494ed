import { expect, test } from "vitest";
import { aMachine, beingDeleted } from "../../testing/builders.ts";
import { aSnapshot, kindsOf, machineAfter, succeeded, testNow } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";

const long = `ip-10-0-0-1.${"a".repeat(60)}.compute.internal`;

test.each([
  ["a short name", "node-1.example", "node-1.example"],
  ["a name of 63 characters", "n".repeat(63), "n".repeat(63)],
  ["a longer name", long, undefined],
  ["no name", "", undefined],
  ["a name with a slash", "a/b", undefined],
])("the id of a VM is stored, and the label with %s only if it can be one", (_, nodeName, label) => {
  const snapshot = aSnapshot({ operation: succeeded("create", { providerId: "vm-1", nodeName }) });
  const { spec, metadata, status } = machineAfter(snapshot, decideMachine(snapshot, testNow));
  expect([spec.providerID, metadata.labels?.["node"], status?.currentStatus?.phase]).toEqual([
    "vm-1",
    label,
    "Pending",
  ]);
});

test.each([long, "", "a/b"])("the node name %j does not keep a deletion from the driver", (nodeName) => {
  const machine = aMachine({ spec: { providerID: "vm-1" } }, beingDeleted());
  const decision = decideMachine(
    aSnapshot({ machine, operation: succeeded("find", { providerId: "vm-1", nodeName }) }),
    testNow,
  );
  expect(kindsOf(decision)).toContain("StartOperation");
  expect(decision.actions).toContainEqual({ kind: "StartOperation", operation: "delete" });
});
