import { isMachineErrorCode, type MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import { describe, expect, it, test } from "vitest";
import type { ClassView } from "../../cluster/class-view.ts";
import type { OperationKind, OperationView } from "../../model/operation.ts";
import { aMachine, aMachineClass, createdAt } from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  lastly,
  later,
  pending,
  running,
  succeeded,
  testNow,
  unusable,
  waiting,
  withVm,
} from "../../testing/snapshots.ts";
import type { MachineDecision } from "../state/decision.ts";
import { decideInitialization } from "./decide-initialization.ts";

const codes = Object.keys(machineErrorCodes).filter(isMachineErrorCode);
const unknownVm: readonly MachineErrorCode[] = codes.filter((code) => code === "NotFound" || code === "Unimplemented");
const otherCodes = codes.filter((code) => !unknownVm.includes(code));

/** The states of a call of one kind, with each code of a class. Failures are new, or recorded on the machine; the longest backoff of a recorded one is ten minutes. */
const states = {
  waiting: (kind: OperationKind) => [waiting(kind)],
  running: (kind: OperationKind) => [running(kind)],
  pending: (kind: OperationKind) => [pending(kind)],
  "done, VM is initialized": (kind: OperationKind) => [
    succeeded(kind),
    succeeded(kind, { needsInitialization: false }),
  ],
  "done, VM is uninitialized": (kind: OperationKind) => [succeeded(kind, { needsInitialization: true })],
  "failed, VM is unknown": (kind: OperationKind) => unknownVm.map((code) => failed(kind, code)),
  "failed, VM is unknown, recorded": (kind: OperationKind) =>
    unknownVm.map((code) => failed(kind, code, { isAcknowledged: true })),
  failed: (kind: OperationKind) => otherCodes.map((code) => failed(kind, code)),
  "failed, recorded": (kind: OperationKind) => otherCodes.map((code) => failed(kind, code, { isAcknowledged: true })),
} satisfies Readonly<Record<string, (kind: OperationKind) => readonly OperationView[]>>;

type State = keyof typeof states;

const usable: ClassView = { state: "usable", machineClass: aMachineClass() };

/** A decision in one line: its actions and events, and what the status shows. */
function render({ actions, status, because, requeueAfterMs }: MachineDecision): string {
  const parts = actions.map((action) => {
    if (action.kind === "AcknowledgeOperation") return "acknowledge";
    return action.kind === "StartOperation" ? action.operation : action.kind;
  });
  const last = status?.lastOperation;
  return [
    ...parts,
    ...(status === undefined
      ? []
      : [`${status.currentStatus?.phase}, ${last?.errorCode === undefined ? "no error" : "error"}`]),
    ...because.map(({ reason }) => reason),
    ...(requeueAfterMs === undefined ? [] : ["requeue"]),
  ].join("; ");
}

/** Its creation timeout is far away. */
const created = aMachine(withVm, createdAt(testNow.toISOString()));

/** What is decided of a call at once and after eleven minutes, with and without a usable class. */
function stepsAfter(operation: OperationView | undefined, machine = created): string {
  const decide = (classView: ClassView, now: Date): string =>
    render(decideInitialization(aSnapshot({ machine, operation, classView }), now));
  const steps = [decide(usable, testNow), decide(usable, later(660_000))];
  const withoutClass = decide(unusable("MachineClassNotFound", "no class", true), testNow);
  return `${[...new Set(steps)].join(", then ")} | without class: ${withoutClass}`;
}

const initializationFailed = lastly("Create", "Failed", "Provider error: x. Initialize VM Instance");

const rejected = "CrashLoopBackOff, error; MachineClassNotFound";

// The steps, as decisions: what a step without a driver call does, it also does without a class.
const find = `find | without class: ${rejected}`;
const initialize = `initialize | without class: ${rejected}`;
const acknowledgeAndInitialize = `acknowledge; initialize | without class: ${rejected}`;
const complete = "acknowledge; Pending, no error | without class: acknowledge; Pending, no error";
const record = (reason: string): string => {
  const recorded = `acknowledge; CrashLoopBackOff, error; ${reason}; requeue`;
  return `${recorded} | without class: ${recorded}`;
};
const repeat = (call: string): string => `requeue, then ${call} | without class: ${rejected}`;

const expected: Readonly<Record<OperationKind, Readonly<Record<State, string>>>> = {
  find: {
    waiting: find,
    running: find,
    pending: find,
    "done, VM is initialized": complete,
    "done, VM is uninitialized": acknowledgeAndInitialize,
    "failed, VM is unknown": acknowledgeAndInitialize,
    "failed, VM is unknown, recorded": acknowledgeAndInitialize,
    failed: record("FailedCreateVM"),
    "failed, recorded": repeat("find"),
  },
  initialize: {
    waiting: initialize,
    running: initialize,
    pending: initialize,
    "done, VM is initialized": complete,
    "done, VM is uninitialized": complete,
    "failed, VM is unknown": record("FailedInitializeVM"),
    "failed, VM is unknown, recorded": repeat("initialize"),
    failed: record("FailedInitializeVM"),
    "failed, recorded": repeat("initialize"),
  },
  create: {
    waiting: find,
    running: find,
    pending: find,
    "done, VM is initialized": find,
    "done, VM is uninitialized": initialize,
    "failed, VM is unknown": find,
    "failed, VM is unknown, recorded": find,
    failed: find,
    "failed, recorded": find,
  },
  delete: {
    waiting: find,
    running: find,
    pending: find,
    "done, VM is initialized": find,
    "done, VM is uninitialized": initialize,
    "failed, VM is unknown": find,
    "failed, VM is unknown, recorded": find,
    failed: find,
    "failed, recorded": find,
  },
};

const kinds = ["find", "initialize", "create", "delete"] as const;

describe.each(kinds)("a VM with an id, after the call %s", (kind) => {
  test.each(Object.entries(states) as [State, (typeof states)[State]][])("%s", (state, operationsOf) => {
    expect([...new Set(operationsOf(kind).map((operation) => stepsAfter(operation)))]).toEqual([expected[kind][state]]);
  });
});

it("is looked up before the first call, or initialized at once where that is known to be due", () => {
  expect(stepsAfter(undefined)).toBe(find);
  expect(stepsAfter(undefined, aMachine(withVm, initializationFailed))).toBe(initialize);
});
