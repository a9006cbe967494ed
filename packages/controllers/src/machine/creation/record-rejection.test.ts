import { describe, expect, it } from "vitest";
import { aMachine, beingDeleted } from "../../testing/builders.ts";
import { intent, recordIntent, withIntent } from "../../testing/creations.ts";
import { aSnapshot, failed, kindsOf, later, machineAfter, testNow, waiting } from "../../testing/snapshots.ts";
import { decideMachine } from "../decide.ts";
import { isKnownRejected } from "../../model/creation-intent.ts";
import type { OperationView } from "../../model/operation.ts";
import { recordRejection } from "./record-rejection.ts";

const rejected = failed("create", "ResourceExhausted", { isTokenSpent: true, isAcknowledged: true });
const actionsFor = (operation: OperationView | undefined, machine = aMachine(withIntent)) =>
  recordRejection(aSnapshot({ machine, ...(operation === undefined ? {} : { operation }) }));

describe("that every request for a VM was rejected", () => {
  const stored = recordIntent({ ...intent, isRejected: true });

  it("is stored from what this process knows", () => {
    expect(actionsFor(rejected)).toEqual([stored]);
    const unasked = { ...waiting("create"), isUnasked: true } as const;
    expect(actionsFor(unasked)).toEqual([stored]);
  });

  it("is not stored where the outcome of a request is open", () => {
    const open = failed("create", "ResourceExhausted", { isAcknowledged: true });
    for (const operation of [undefined, open, waiting("create"), failed("find", "NotFound")])
      expect(actionsFor(operation)).toEqual([]);
    expect(actionsFor(rejected, aMachine())).toEqual([]);
  });

  it("is stored before a deletion begins, once", () => {
    const snapshot = aSnapshot({ machine: aMachine(withIntent, beingDeleted()), operation: rejected });
    const first = decideMachine(snapshot, testNow);
    expect(first.actions).toEqual([stored]);
    const machine = machineAfter(snapshot, first);
    expect(isKnownRejected(machine)).toBe(true);
    expect(kindsOf(decideMachine({ ...snapshot, machine }, testNow))).toEqual(["StartOperation"]);
  });

  it("is stored when a machine that waits for its class becomes Failed", () => {
    const backoff = { code: "ResourceExhausted", message: "quota" } as const;
    const operation = { ...waiting("create", backoff), isUnasked: true } as const;
    const decision = decideMachine(aSnapshot({ machine: aMachine(withIntent), operation }), later(3_600_000));
    expect(decision.actions).toEqual([stored, { kind: "CancelOperation" }]);
  });

  it("does not hold for a machine that has a VM", () => {
    const annotations = stored.patch.metadata.annotations;
    expect(isKnownRejected(aMachine({ metadata: { annotations }, spec: { providerID: "vm-1" } }))).toBe(false);
  });
});
