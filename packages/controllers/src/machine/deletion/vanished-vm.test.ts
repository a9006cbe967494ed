import { expect, it, test } from "vitest";
import { aMachineClass, named } from "../../testing/builders.ts";
import { aPod, at, cordoned, decide, marker } from "../../testing/deletions.ts";
import { failed, later, running, type SnapshotChange, succeeded, testNow, unusable } from "../../testing/snapshots.ts";

const notReady = (status: string) =>
  cordoned({ status: { conditions: [{ type: "Ready", status, lastTransitionTime: "2026-01-01T00:09:59Z" }] } });
const draining: SnapshotChange = { machine: at(marker.drain), node: notReady("Unknown"), pods: [aPod("web")] };
const find = { kind: "StartOperation", operation: "find" };
const endedAt = testNow.getTime();
const notFound = failed("find", "NotFound", { endedAt });

it("is looked for as soon as the node of a drain is not ready, and again after a minute", () => {
  expect(decide(draining).actions).toContainEqual(find);
  expect(decide({ ...draining, node: notReady("False") }).actions).toContainEqual(find);
  for (const operation of [{ ...succeeded("find"), endedAt }, failed("find", "Unavailable", { endedAt })]) {
    expect(decide({ ...draining, operation }, later(10_000))).toMatchObject({ requeueAfterMs: 50_000 });
    expect(decide({ ...draining, operation }, later(10_000)).actions).not.toContainEqual(find);
    expect(decide({ ...draining, operation }, later(60_000)).actions).toContainEqual(find);
  }
  // An earlier deletion failed, and the drain was resumed.
  expect(decide({ ...draining, operation: failed("delete", "Internal") }).actions).toContainEqual(find);
});

test.each<[string, SnapshotChange]>([
  ["its node is ready", { node: notReady("True") }],
  ["its node has not reported", { node: cordoned({ status: { conditions: [] } }) }],
  ["no VM is known", { machine: at(marker.drain, { spec: { providerID: "" } }) }],
  ["no driver can be called", { classView: unusable("x", "y") }],
  ["it is being looked for", { operation: running("find") }],
])("is not looked for when %s", (_, change) => {
  const { actions } = decide({ ...draining, ...change });
  expect(actions).not.toContainEqual(find);
  expect(actions).toContainEqual(expect.objectContaining({ kind: "EvictPod" }));
});

it("that does not exist ends the drain: its deletion confirms that, and then Kubernetes releases the pods", () => {
  const decision = decide({ ...draining, node: notReady("Unknown"), operation: notFound });
  expect(decision.actions).toEqual([
    expect.objectContaining({ kind: "PatchNodeStatus" }),
    { kind: "StartOperation", operation: "delete" },
  ]);
  expect(decision.status?.lastOperation?.description).toBe(
    "VM vm-1 was not found, and its Node node is not ready. Node node is unreachable, skipping node drain and deleting the VM first. Initiate VM deletion",
  );
});

it("that does not exist ends the drain only after the node was read", () => {
  expect(decide({ ...draining, operation: notFound, unreadNode: "node" }).actions).toEqual([
    { kind: "ReadNode", name: "node" },
  ]);
});

it("that may be in another place does not end the drain", () => {
  const classView = { state: "usable", machineClass: aMachineClass(named("other")) } as const;
  const { actions } = decide({ ...draining, operation: notFound, classView });
  expect(actions).toEqual([expect.anything(), expect.objectContaining({ kind: "EvictPod" })]);
});

it("is drained when the node recovers before the VM is deleted", () => {
  const { lastOperation } = decide({ ...draining, operation: notFound }).status ?? {};
  const machine = at(lastOperation?.description ?? "");
  const failing = failed("delete", "Unavailable", { isAcknowledged: true });
  const decision = decide({ ...draining, machine, node: notReady("True"), operation: failing });
  expect(decision.status?.lastOperation?.description).toMatch(
    /Node node recovered, draining it before its VM is deleted\. Initiate node drain$/,
  );
});
