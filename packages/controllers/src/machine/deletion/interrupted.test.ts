import { expect, test } from "vitest";
import { aMachine, beingDeleted, inPhase } from "../../testing/builders.ts";
import { aSnapshot, itsNode, lastly, machineAfter, succeeded, testNow, withVm } from "../../testing/snapshots.ts";
import { decideDeletion } from "./decide-deletion.ts";
import { interruptedDeletion } from "./interrupted.ts";

const at = (description?: string) =>
  description === undefined
    ? aMachine(withVm, inPhase("Running"), beingDeleted())
    : aMachine(withVm, inPhase("Terminating"), beingDeleted(), lastly("Delete", "Processing", description));

const retry = "Drain failed due to - nodes is forbidden. Will retry in next sync. Initiate node drain";

test.each([
  ["the drain, in MCM's words", at(), itsNode(), retry],
  ["the drain that was under way", at("Initiate node drain"), itsNode(), retry],
  [
    "the deletion of the node, in the stored stage",
    at("VM deletion was successful. Initiate node object deletion"),
    itsNode(),
    "Machine deletion failed due to - nodes is forbidden. Will retry in next sync. Initiate node object deletion",
  ],
  [
    "the last finalizer, in the stored stage",
    at("Initiate machine object finalizer removal"),
    undefined,
    "Machine deletion failed due to - nodes is forbidden. Will retry in next sync. Initiate machine object finalizer removal",
  ],
])("a failed write in %s is reported, with one event, and repeated", (_, machine, node, expected) => {
  const snapshot = aSnapshot({ machine, node });
  const interrupted = interruptedDeletion(snapshot, decideDeletion(snapshot, testNow), "nodes is forbidden", testNow);
  expect(interrupted.status?.lastOperation).toMatchObject({ type: "Delete", state: "Failed", description: expected });
  expect(interrupted.status?.currentStatus?.phase).toBe("Terminating");
  expect(interrupted.because).toMatchObject([{ type: "Warning", reason: "DeletionBlocked" }]);
  const next = { ...snapshot, machine: machineAfter(snapshot, interrupted) };
  const again = interruptedDeletion(next, decideDeletion(next, testNow), "nodes is forbidden", testNow);
  expect([again.because, again.status]).toEqual([[], next.machine.status]);
});

test("a reconcile that got past the drain repeats it: the failed write may have been part of it", () => {
  const machine = at("Initiate node drain");
  const snapshot = aSnapshot({ machine, operation: succeeded("delete") });
  const interrupted = interruptedDeletion(snapshot, decideDeletion(snapshot, testNow), "no", testNow);
  expect(interrupted.status?.lastOperation?.description).toMatch(/Initiate node drain$/);
});
