import { ApiError } from "@millwright/kube";
import { conflictError, serverError } from "@millwright/kube/testing";
import { expect, test } from "vitest";
import { aMachine, beingDeleted, inPhase } from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  itsNode,
  lastly,
  machineAfter,
  succeeded,
  testNow,
  withVm,
} from "../../testing/snapshots.ts";
import { decideDeletion } from "./decide-deletion.ts";
import { interruptedDeletion, interruption } from "./interrupted.ts";

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
    "VM deletion was successful. Machine deletion failed due to - nodes is forbidden. Will retry in next sync. Initiate node object deletion",
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

test("a VM that was deleted is stored before what failed of its node", () => {
  for (const [operation, text] of [
    [succeeded("delete"), "VM deletion was successful"],
    [failed("delete", "NotFound"), "VM not found. Continuing deletion flow"],
  ] as const) {
    const snapshot = aSnapshot({ machine: at("Initiate VM deletion"), node: itsNode(), operation });
    const interrupted = interruptedDeletion(snapshot, decideDeletion(snapshot, testNow), "no", testNow);
    expect(interrupted.status?.lastOperation?.description).toBe(
      `${text}. Machine deletion failed due to - no. Will retry in next sync. Initiate node object deletion`,
    );
  }
});

test("an unreachable API server of the nodes is reported, that of the machines and a conflict are not", () => {
  const unanswered = new ApiError({ status: 0, reason: "", message: "socket hang up" });
  expect(interruption(unanswered, { kind: "DeleteNode", name: "node", uid: "u" })).toBe(
    "the API server of the nodes is unreachable; if it is gone for good, set the label force-deletion=True",
  );
  expect(interruption(unanswered, { kind: "PatchMachine", patch: {} })).toBeUndefined();
  expect(interruption(unanswered, undefined)).toBeUndefined();
  expect(interruption(conflictError(), { kind: "DeleteNode", name: "node", uid: "u" })).toBeUndefined();
  expect(interruption(serverError(), undefined)).toBe(serverError().message);
  expect(interruption(new Error("bug"), undefined)).toBeUndefined();
});
