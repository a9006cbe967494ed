import { phaseOf } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachine, beingDeleted, inPhase } from "../../testing/builders.ts";
import { aSnapshot, testNow, withVm } from "../../testing/snapshots.ts";
import type { CrdState } from "../../model/crd-state.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { crdHoldOfMachine } from "../../crd-guard/crd-hold.ts";
import { handOverStatus } from "./hand-over.ts";

const crd: CrdState = {
  name: "machines.machine.sapcloud.io",
  state: "terminating",
  createdAt: 0,
  deletedAt: testNow.getTime(),
  isDeletionAllowed: false,
};

const phaseAfter = (snapshot: MachineSnapshot): string | undefined => {
  const status = handOverStatus(snapshot, testNow);
  return status === undefined ? undefined : phaseOf({ status });
};
const deleted = aMachine(withVm, inPhase("Running"), beingDeleted());

it("leaves a machine whose deletion has not started as Terminating, at the first stage", () => {
  expect(phaseAfter(aSnapshot({ machine: deleted }))).toBe("Terminating");
  const { lastOperation } = handOverStatus(aSnapshot({ machine: deleted }), testNow) ?? {};
  expect(lastOperation).toMatchObject({ type: "Delete", state: "Processing" });
});

it.each([
  ["that is not being deleted", aSnapshot({ machine: aMachine(withVm, inPhase("Running")) })],
  ["whose deletion has started", aSnapshot({ machine: aMachine(deleted, inPhase("Terminating")) })],
  ["whose deletion is paused", aSnapshot({ machine: deleted, hold: crdHoldOfMachine(crd) })],
  ["without our finalizer", aSnapshot({ machine: aMachine(deleted, { metadata: { finalizers: ["other"] } }) })],
  ["without finalizers", aSnapshot({ machine: aMachine(deleted, { metadata: { finalizers: null } }) })],
])("leaves a machine %s as it is", (_, snapshot) => {
  expect(phaseAfter(snapshot)).toBeUndefined();
});
