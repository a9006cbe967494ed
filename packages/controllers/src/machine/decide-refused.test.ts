import { describe, expect, it } from "vitest";
import { aMachine, inPhase } from "../testing/builders.ts";
import { aSnapshot, lastly, withVm } from "../testing/snapshots.ts";
import { later, testNow } from "../testing/test-time.ts";
import { statusOf } from "../model/status-change.ts";
import { decideRefused, withEndOfRefusal } from "./decide-refused.ts";

const id = (end: string): string => `6f1b2c3d-1111-2222-3333-44445555${end}`;
const textOf = (request: string): string =>
  `Failed to patch Machine machine: 403 Forbidden: denied, request ${request}`;
const text = textOf(id("0001"));
const refused = (type: string, state = "Failed") => lastly(type, state, text);
const HOUR = 3_600_000;

/** Phase, then type and state of the last operation, then its description. */
const shown = ({ status }: ReturnType<typeof decideRefused>): readonly unknown[] => [
  status?.currentStatus?.phase,
  status?.lastOperation?.type,
  status?.lastOperation?.state,
  status?.lastOperation?.description,
];

describe("a machine whose reconcile fails since a write is refused", () => {
  it.each([
    ["is being created", aMachine(), testNow, ["CrashLoopBackOff", "Create", "Failed", text]],
    ["is being created for too long", aMachine(), later(HOUR), ["Failed", "Create", "Failed", text]],
    [
      "has a VM that was created",
      aMachine(withVm, inPhase("CrashLoopBackOff"), lastly("Create", "Failed", "x")),
      later(HOUR),
      ["Failed", "Create", "Failed", text],
    ],
    ["was made from a file, with its VM", aMachine(withVm), later(HOUR), [undefined, "Update", "Failed", text]],
    [
      "waits for its Node",
      aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x")),
      testNow,
      ["Pending", "Create", "Failed", text],
    ],
    [
      "waits for its Node for too long",
      aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x")),
      later(HOUR),
      ["Failed", "Create", "Failed", text],
    ],
    [
      "runs since its creation",
      aMachine(withVm, inPhase("Running"), lastly("Create", "Successful", "joined")),
      later(HOUR),
      ["Running", "Update", "Failed", text],
    ],
    [
      "is updated in place",
      aMachine(withVm, inPhase("InPlaceUpdating"), lastly("InPlaceUpdate", "Processing", "x")),
      later(HOUR),
      ["InPlaceUpdating", "InPlaceUpdate", "Failed", text],
    ],
  ] as const)("has it as last operation: one that %s", (_, machine, now, expected) => {
    expect(shown(decideRefused(aSnapshot({ machine }), text, now))).toEqual(expected);
  });

  it("keeps the text of the first attempt, and with it its time", () => {
    const machine = aMachine(withVm, inPhase("Running"), refused("Update"));
    const { status } = decideRefused(aSnapshot({ machine }), textOf(id("0002")), later(HOUR));
    expect(status).toEqual(machine.status);
  });

  it("keeps the code of a failed creation, which the autoscaler reads, and the record that the VM is uninitialized", () => {
    const failed = {
      status: { lastOperation: { type: "Create", state: "Failed", errorCode: "ResourceExhausted", description: "x" } },
    };
    const exhausted = decideRefused(
      aSnapshot({ machine: aMachine(inPhase("CrashLoopBackOff"), failed) }),
      text,
      testNow,
    );
    expect(exhausted.status?.lastOperation).toMatchObject({ errorCode: "ResourceExhausted", description: text });
    const description =
      "Provider error: machine codes error: code = [Internal] message = [x]. Running initialization of VM again";
    const uninitialized = aMachine(withVm, inPhase("CrashLoopBackOff"), {
      status: {
        lastOperation: {
          type: "Create",
          state: "Failed",
          errorCode: "Internal",
          description,
          details: { reason: "InitializationFailed", code: "Internal" },
        },
      },
    });
    const decision = decideRefused(aSnapshot({ machine: uninitialized }), text, testNow);
    expect(decision.status?.lastOperation).toEqual(uninitialized.status?.lastOperation);
  });

  it("uses the remediation budget when its Node does not join in time, and waits for it", () => {
    const machine = aMachine(withVm, inPhase("Pending"), lastly("Create", "Processing", "x"));
    const free = aSnapshot({ machine });
    expect(decideRefused(free, text, later(HOUR)).actions).toMatchObject([{ kind: "StartRemediation" }]);
    const used = { ...free, remediation: { ...free.remediation, limit: 0 } };
    const held = decideRefused(used, text, later(HOUR));
    expect([held.actions, held.status?.lastOperation?.details?.reason]).toEqual([[], "JoinOnHold"]);
    const again = decideRefused({ ...used, machine: { ...machine, status: held.status ?? {} } }, text, later(2 * HOUR));
    expect(again.status).toEqual(held.status);
  });

  it("shows the health of its Node all the same", () => {
    const machine = aMachine(withVm, inPhase("Running"), lastly("Create", "Successful", "joined"));
    const conditions = [{ type: "Ready", status: "Unknown" }];
    expect(decideRefused(aSnapshot({ machine }), text, testNow, conditions).status?.conditions).toEqual(conditions);
  });
});

describe("the end of a refusal", () => {
  const nothing = { actions: [], because: [] };
  const running = aMachine(withVm, inPhase("Running"), refused("Update"));

  it.each([
    ["a machine that runs", running, "Update", "Successful"],
    [
      "a machine that is being created",
      aMachine(inPhase("CrashLoopBackOff"), refused("Create")),
      "Create",
      "Processing",
    ],
  ])("replaces the last operation of %s", (_, machine, type, state) => {
    const { status } = withEndOfRefusal(aSnapshot({ machine }), nothing, testNow);
    expect(status?.lastOperation).toMatchObject({
      type,
      state,
      description: "The API server accepts the writes of machine machine again",
    });
  });

  it("changes nothing that is reported otherwise", () => {
    const decided = {
      ...nothing,
      status: aMachine(withVm, inPhase("Unknown"), lastly("HealthCheck", "Processing", "x")).status ?? {},
    };
    expect(withEndOfRefusal(aSnapshot({ machine: running }), decided, testNow)).toBe(decided);
    const same = { ...nothing, status: statusOf(running) };
    expect(withEndOfRefusal(aSnapshot({ machine: running, isReadable: false }), same, testNow)).toBe(same);
    const failed = aMachine(withVm, inPhase("Running"), lastly("HealthCheck", "Failed", "x"));
    expect(withEndOfRefusal(aSnapshot({ machine: failed }), nothing, testNow)).toBe(nothing);
  });
});
