import { expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, beingDeleted, inPhase } from "../../testing/builders.ts";
import { aSnapshot, itsNode, kindsOf, lastly, testNow, withVm } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { intentAnnotation, intentFor } from "../../model/creation-intent.ts";

const withTokenIntent = (wantsToken: boolean) =>
  annotated(intentAnnotation(intentFor(aMachine(), aMachineClass(), { wantsToken })));
const pending = (wantsToken: boolean) =>
  aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"), withTokenIntent(wantsToken));
const removes = (change: Parameters<typeof aSnapshot>[0]) =>
  kindsOf(decideMachine(aSnapshot(change), testNow)).includes("RemoveBootstrapToken");

it("removes the bootstrap token when the node joins, where there is one", () => {
  expect(removes({ machine: pending(true), node: itsNode() })).toBe(true);
  expect(removes({ machine: pending(false), node: itsNode() })).toBe(false);
  expect(removes({ machine: pending(true) })).toBe(false);
});

it("does not look for it again when the node recovers", () => {
  const machine = aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "x"), withTokenIntent(true));
  expect(removes({ machine, node: itsNode() })).toBe(false);
});

it("removes it once when the machine is deleted, joined or not", () => {
  expect(removes({ machine: aMachine(withTokenIntent(true), beingDeleted()) })).toBe(true);
  expect(removes({ machine: aMachine(withTokenIntent(false), beingDeleted()) })).toBe(false);
  expect(removes({ machine: aMachine(withTokenIntent(true), beingDeleted(), inPhase("Terminating")) })).toBe(false);
  expect(removes({ machine: aMachine(withTokenIntent(true), beingDeleted()), hasTarget: false })).toBe(false);
});
