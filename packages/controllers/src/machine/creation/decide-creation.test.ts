import {
  allowsTransition,
  decodeMachineError,
  type Machine,
  type MachineErrorCode,
  machineErrorCodes,
  phaseOf,
} from "@millwright/core";
import { describe, expect, it, test } from "vitest";
import {
  aMachine,
  aMachineClass,
  annotated,
  type Change,
  createdAt,
  inPhase,
  testNamespace,
} from "../../testing/builders.ts";
import {
  aSnapshot,
  failed,
  kindsOf,
  later,
  machineAfter,
  running,
  succeeded,
  testNow,
  unusable,
  withVm,
} from "../../testing/snapshots.ts";
import { decideCreation, needsCreation } from "./decide-creation.ts";

const intent = {
  attempt: 1,
  class: "small",
  provider: "mock",
  secretRef: "small",
};
const annotation = "machine.millwright.dev/creation-intent";
const asked = annotated({ [annotation]: JSON.stringify(intent) });
const startCreate = {
  kind: "StartOperation",
  operation: "create",
  token: "uid-machine-1",
  lane: { name: "small/", isRepeated: false },
};
const startAgain = { ...startCreate, lane: { name: "small/", isRepeated: true } };
const recordIntent = (changed: object = intent) => ({
  kind: "PatchMachine",
  patch: { metadata: { uid: "uid-machine", annotations: { [annotation]: JSON.stringify(changed) } } },
});
const failedBefore = (code = "Internal"): Change<Machine> => ({
  status: {
    currentStatus: { phase: "CrashLoopBackOff" },
    lastOperation: { type: "Create", state: "Failed", errorCode: code, description: "no" },
  },
});
const vm = { providerId: "vm-1", nodeName: "node" };

describe("which machines get a VM", () => {
  test.each([
    ["a new machine", aMachine(), true],
    ["a machine whose creation failed", aMachine(inPhase("CrashLoopBackOff")), true],
    ["a machine whose ids are stored but not its phase", aMachine(withVm), true],
    ["a machine in CrashLoopBackOff with a VM", aMachine(withVm, inPhase("CrashLoopBackOff")), true],
    ["a Running machine that lost its id", aMachine(withVm, inPhase("Running"), { spec: { providerID: "" } }), true],
    ["a Pending machine", aMachine(withVm, inPhase("Pending")), false],
    ["a Running machine", aMachine(withVm, inPhase("Running")), false],
    ["a Failed machine without VM", aMachine(inPhase("Failed")), false],
    ["a Failed machine with VM", aMachine(withVm, inPhase("Failed")), false],
  ])("%s: %#", (_, machine, expected) => {
    expect(needsCreation(aSnapshot({ machine }))).toBe(expected);
  });
});

describe("asking the driver", () => {
  it("writes down what it is going to ask, and asks", () => {
    expect(decideCreation(aSnapshot(), testNow)).toEqual({ actions: [recordIntent(), startCreate], because: [] });
  });

  it("asks with nothing written that was written before", () => {
    expect(decideCreation(aSnapshot({ machine: aMachine(asked) }), testNow).actions).toEqual([startCreate]);
  });

  it("writes the names of the secrets, region, zone and the wish for a token, when the class has them, and nothing else of it", () => {
    const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "z" };
    const credentials = { name: "cloud", namespace: testNamespace };
    const machineClass = aMachineClass({ nodeTemplate, credentialsSecretRef: credentials, providerSpec: { a: "b" } });
    const snapshot = aSnapshot({ wantsToken: true, classView: { state: "usable", machineClass } });
    const { secretRef, ...rest } = intent;
    expect(decideCreation(snapshot, testNow).actions).toEqual([
      recordIntent({ ...rest, region: "r", zone: "z", secretRef, credentialsSecretRef: "cloud", bootstrapToken: true }),
      { ...startCreate, lane: { name: "small/z", isRepeated: false } },
    ]);
  });

  it("writes it anew when the class has changed, with the same token: a VM of the attempt may exist", () => {
    const machineClass = aMachineClass({ provider: "other" });
    const snapshot = aSnapshot({ machine: aMachine(asked), classView: { state: "usable", machineClass } });
    expect(decideCreation(snapshot, testNow).actions).toEqual([
      recordIntent({ ...intent, provider: "other" }),
      startCreate,
    ]);
  });

  it("takes another token only when the driver said that nothing is left of the attempt", () => {
    const retry = (isTokenSpent: boolean) => {
      const operation = failed("create", "ResourceExhausted", { isAcknowledged: true, endedAt: 0, isTokenSpent });
      return decideCreation(aSnapshot({ machine: aMachine(asked), operation }), testNow).actions;
    };
    expect(retry(false)).toEqual([startCreate]);
    expect(retry(true)).toEqual([recordIntent({ ...intent, attempt: 2 }), { ...startCreate, token: "uid-machine-2" }]);
  });

  it("waits while the call runs", () => {
    expect(decideCreation(aSnapshot({ operation: running("create") }), testNow)).toEqual({ actions: [], because: [] });
  });

  it("asks again, after a restart, a machine in CrashLoopBackOff whose failure is no longer remembered", () => {
    const machine = aMachine(asked, failedBefore());
    expect(decideCreation(aSnapshot({ machine }), testNow).actions).toEqual([startAgain]);
  });
});

describe("a VM was made", () => {
  it("stores id, node name and priority in one patch before the phase, which is Pending", () => {
    const decision = decideCreation(aSnapshot({ operation: succeeded("create", vm) }), testNow);
    expect(decision).toEqual({
      actions: [
        {
          kind: "PatchMachine",
          patch: {
            metadata: {
              uid: "uid-machine",
              labels: { node: "node" },
              annotations: { "machinepriority.machine.sapcloud.io": "3" },
            },
            spec: { providerID: "vm-1" },
          },
        },
        { kind: "AcknowledgeOperation" },
      ],
      status: {
        lastOperation: {
          description: "Creating machine on cloud provider",
          state: "Processing",
          type: "Create",
          lastUpdateTime: "2026-01-01T00:10:00Z",
        },
        currentStatus: { phase: "Pending", timeoutActive: true, lastUpdateTime: "2026-01-01T00:10:00Z" },
      },
      because: [{ type: "Normal", reason: "CreatedVM", message: "Created VM vm-1" }],
    });
  });

  it("says so when the VM was there already, made by an attempt whose answer was lost", () => {
    const operation = succeeded("create", { ...vm, isAdopted: true });
    expect(decideCreation(aSnapshot({ operation }), testNow).because).toEqual([
      { type: "Normal", reason: "AdoptedVM", message: "Found VM vm-1 of an earlier attempt" },
    ]);
  });

  it("leaves a priority alone that somebody has set, and replaces an empty one", () => {
    const patchFor = (value: string) => {
      const machine = aMachine(annotated({ "machinepriority.machine.sapcloud.io": value }));
      const [action] = decideCreation(aSnapshot({ machine, operation: succeeded("create", vm) }), testNow).actions;
      return action?.kind === "PatchMachine" ? action.patch : {};
    };
    expect(patchFor("1")).not.toHaveProperty("metadata.annotations");
    expect(patchFor("")).toHaveProperty(["metadata", "annotations", "machinepriority.machine.sapcloud.io"], "3");
  });

  it("ends the failure that was told before, last known state included", () => {
    const machine = aMachine(inPhase("CrashLoopBackOff"), {
      status: {
        lastKnownState: "op-1",
        lastOperation: { type: "Create", state: "Failed", errorCode: "Internal", description: "no" },
      },
    });
    const { status } = decideCreation(aSnapshot({ machine, operation: succeeded("create", vm) }), testNow);
    expect(status).not.toHaveProperty("lastKnownState");
    const remembered = decideCreation(
      aSnapshot({ machine, operation: succeeded("create", { ...vm, lastKnownState: "op-2" }) }),
      testNow,
    );
    expect(remembered.status?.lastKnownState).toBe("op-2");
    expect(status?.lastOperation).not.toHaveProperty("errorCode");
    expect(status?.currentStatus?.phase).toBe("Pending");
  });

  it("stores the ids of an answer without any as empty ones, which the next pass asks for again", () => {
    const snapshot = aSnapshot({ operation: succeeded("create") });
    const machine = machineAfter(snapshot, decideCreation(snapshot, testNow));
    expect(needsCreation(aSnapshot({ machine }))).toBe(true);
  });

  it("gives a Running machine its lost id back and leaves its phase alone", () => {
    const machine = aMachine(inPhase("Running"));
    const decision = decideCreation(aSnapshot({ machine, operation: succeeded("create", vm) }), testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
    expect(decision.status).toBeUndefined();
  });
});

describe("without a target cluster", () => {
  const result = {
    ...vm,
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "node" },
      { type: "ExternalIP", address: "1.2.3.4" },
    ],
  };

  it("ends in Available with sorted addresses, each once, and no label", () => {
    const decision = decideCreation(aSnapshot({ hasTarget: false, operation: succeeded("create", result) }), testNow);
    expect(decision.actions[0]).not.toHaveProperty("patch.metadata.labels");
    expect(decision.status).toMatchObject({
      addresses: [
        { type: "ExternalIP", address: "1.2.3.4" },
        { type: "Hostname", address: "node" },
        { type: "InternalIP", address: "10.0.0.1" },
      ],
      lastOperation: { description: "Created machine on cloud provider", state: "Successful", type: "Create" },
      currentStatus: { phase: "Available", timeoutActive: false },
    });
  });
});

describe("a driver call failed", () => {
  const codes = Object.keys(machineErrorCodes) as MachineErrorCode[];
  const soon = new Set<string>(["Unknown", "DeadlineExceeded", "Aborted", "Unavailable"]);
  const delayOf = (code: MachineErrorCode) =>
    code === "ResourceExhausted" ? 600_000 : soon.has(code) ? 5_000 : 180_000;

  test.each(codes)("%s makes the machine CrashLoopBackOff, says so in MCM's words and waits", (code) => {
    const decision = decideCreation(aSnapshot({ operation: failed("create", code) }), testNow);
    expect(decision).toMatchObject({
      actions: [{ kind: "AcknowledgeOperation" }],
      status: {
        currentStatus: { phase: "CrashLoopBackOff", timeoutActive: false },
        lastOperation: {
          type: "Create",
          state: "Failed",
          errorCode: code,
          description: `Cloud provider message - machine codes error: code = [${code}] message = [no luck]`,
        },
      },
      wakeAfterMs: delayOf(code),
      because: [{ type: "Warning", reason: "FailedCreateVM", message: `${code}: no luck` }],
    });
  });

  test.each(codes)("%s makes a machine Failed whose creation timeout has passed", (code) => {
    const machine = aMachine(createdAt("2025-12-31T23:50:00Z"));
    const late = decideCreation(aSnapshot({ machine, operation: failed("create", code) }), later(1));
    expect(late.status?.currentStatus?.phase).toBe("Failed");
    expect(late).not.toHaveProperty("wakeAfterMs");
    const inTime = decideCreation(aSnapshot({ machine, operation: failed("create", code) }), testNow);
    expect(inTime.status?.currentStatus?.phase).toBe("CrashLoopBackOff");
  });

  const remembering = aMachine({ status: { lastKnownState: "op-1" } });
  test.each(codes)("%s keeps the last known state only where the call is tried again soon", (code) => {
    const { status } = decideCreation(aSnapshot({ machine: remembering, operation: failed("create", code) }), testNow);
    expect(status?.lastKnownState).toBe(delayOf(code) === 180_000 ? undefined : "op-1");
  });

  it("takes over the state that the driver wants to remember", () => {
    const operation = failed("create", "Internal", { lastKnownState: "op-2" });
    expect(decideCreation(aSnapshot({ machine: remembering, operation }), testNow).status?.lastKnownState).toBe("op-2");
  });

  it("says the same failure once, and dates it once", () => {
    const first = aSnapshot({ operation: failed("create", "Internal") });
    const machine = machineAfter(first, decideCreation(first, testNow));
    const again = decideCreation(
      aSnapshot({ machine, operation: failed("create", "Internal", { endedAt: later(180_000).getTime() }) }),
      later(180_000),
    );
    expect(again.status).toEqual(machine.status);
    expect(again.because).toEqual([]);
  });

  it("waits for the time of the next attempt once the failure is written", () => {
    const operation = failed("create", "Internal", { isAcknowledged: true });
    const machine = aMachine(asked, failedBefore());
    expect(decideCreation(aSnapshot({ machine, operation }), later(1_000))).toEqual({
      actions: [],
      because: [],
      wakeAfterMs: 179_000,
    });
    expect(decideCreation(aSnapshot({ machine, operation }), later(180_000)).actions).toEqual([startAgain]);
  });

  it("tries again at once when class or secret have changed", () => {
    const operation = failed("create", "Internal", { isAcknowledged: true });
    const machine = aMachine(asked, failedBefore());
    const decision = decideCreation(aSnapshot({ machine, operation, inputs: "class-1/secret-2" }), later(1));
    expect(decision.actions).toEqual([startAgain]);
  });

  it("keeps the phase of a Running machine whose VM cannot be found any more", () => {
    const machine = aMachine(inPhase("Running"));
    const { status, wakeAfterMs } = decideCreation(
      aSnapshot({ machine, operation: failed("create", "Internal") }),
      testNow,
    );
    expect(status).toMatchObject({ currentStatus: { phase: "Running" }, lastOperation: { errorCode: "Internal" } });
    expect(wakeAfterMs).toBe(180_000);
  });

  it("keeps the words of the last time when only ids and times in them differ, and says nothing again (F26)", () => {
    const tell = (id: string) => `RunInstances refused, request id ${id} at 2026-01-01T00:00:00.123Z`;
    const first = aSnapshot({
      operation: failed("create", "Internal", { message: tell("0a1b2c3d-0000-4000-8000-000000000001") }),
    });
    const machine = machineAfter(first, decideCreation(first, testNow));
    const operation = failed("create", "Internal", { message: tell("0a1b2c3d-0000-4000-8000-000000000002") });
    const again = decideCreation(aSnapshot({ machine, operation }), later(180_000));
    expect([again.status, again.because]).toEqual([machine.status, []]);
    const other = failed("create", "Internal", { message: "quota" });
    expect(decideCreation(aSnapshot({ machine, operation: other }), later(1)).because).toHaveLength(1);
  });

  it("cuts the text of a provider that does not come to an end", () => {
    const operation = failed("create", "Internal", { message: "x".repeat(100_000) });
    const { description = "" } = decideCreation(aSnapshot({ operation }), testNow).status?.lastOperation ?? {};
    expect(description.length).toBeLessThan(1_200);
    expect(decodeMachineError(description)?.code).toBe("Internal");
  });

  it.each([
    ["the annotation", annotated({ "node.machine.sapcloud.io/effective-creation-timeout": "9m" }), "Failed"],
    ["the spec", { spec: { creationTimeout: "9m" } }, "Failed"],
    ["the setting", {}, "CrashLoopBackOff"],
  ])("measures the creation timeout by %s", (_, change, phase) => {
    const operation = failed("create", "Internal");
    const { status } = decideCreation(aSnapshot({ machine: aMachine(change), operation }), testNow);
    expect(status?.currentStatus?.phase).toBe(phase);
  });
});

describe("a machine that cannot be followed", () => {
  const problems = [{ path: "spec.class.name", message: "is required", kind: "required" as const }];
  const boot = {
    reason: "InvalidSecret",
    problem: 'MachineClass "small": key "userData" is missing in Secret "small"',
  };
  const cases = [
    ["its own spec is wrong", { problems }, "InvalidMachine", "spec.class.name: is required"],
    ["its class is missing", { classView: unusable("MachineClassNotFound", "no class", true) }, undefined, "no class"],
    ["its class is invalid", { classView: unusable("InvalidMachineClass", "bad class") }, undefined, "bad class"],
    ["no driver is there", { classView: unusable("NoDriver", "no driver") }, undefined, "no driver"],
    ["its secret is missing", { classView: unusable("SecretNotFound", "no secret") }, undefined, "no secret"],
    [
      "its user data is missing",
      { classView: { state: "usable", machineClass: aMachineClass(), obstacle: boot } },
      "InvalidSecret",
      boot.problem,
    ],
  ] as const;

  test.each(cases)("says in one sentence that %s, and waits for a change", (_, change, reason, message) => {
    const decision = decideCreation(aSnapshot(change), testNow);
    expect(decision).toMatchObject({
      actions: [],
      status: {
        currentStatus: { phase: "CrashLoopBackOff" },
        lastOperation: { type: "Create", state: "Failed", errorCode: "InvalidArgument", description: message },
      },
      because: [{ type: "Warning", ...(reason === undefined ? {} : { reason }), message }],
    });
    expect(decision).not.toHaveProperty("wakeAfterMs");
  });

  test.each(cases)("does not repeat itself while %s", (_, change) => {
    const first = aSnapshot(change);
    const machine = machineAfter(first, decideCreation(first, testNow));
    const again = decideCreation(aSnapshot({ ...change, machine }), later(3_600_000));
    expect(again.status).toEqual(machine.status);
    expect(again.because).toEqual([]);
  });

  it("is not made Failed by time: only a change of the named object helps", () => {
    const machine = aMachine(createdAt("2025-01-01T00:00:00Z"));
    const { status } = decideCreation(aSnapshot({ machine, problems }), testNow);
    expect(status?.currentStatus?.phase).toBe("CrashLoopBackOff");
  });

  it("keeps its phase when it was past creation", () => {
    const { status } = decideCreation(aSnapshot({ machine: aMachine(inPhase("Running")), problems }), testNow);
    expect(status?.currentStatus?.phase).toBe("Running");
  });

  it("still writes down a VM that was made before", () => {
    const decision = decideCreation(aSnapshot({ problems, operation: succeeded("create", vm) }), testNow);
    expect(kindsOf(decision)).toEqual(["PatchMachine", "AcknowledgeOperation"]);
  });

  it("creates as soon as the obstacle is gone", () => {
    const machine = aMachine(asked, failedBefore("InvalidArgument"));
    expect(decideCreation(aSnapshot({ machine }), testNow).actions).toEqual([startAgain]);
  });
});

it("takes no way from phase to phase that the table does not have", () => {
  for (const phase of ["", "CrashLoopBackOff", "Running", "Unknown", "Pending"] as const) {
    for (const operation of [succeeded("create", vm), failed("create", "Internal")]) {
      const machine = aMachine(inPhase(phase), createdAt("2025-01-01T00:00:00Z"));
      const { status } = decideCreation(aSnapshot({ machine, operation }), testNow);
      const next = phaseOf(status === undefined ? machine : { status });
      expect(next !== undefined && allowsTransition(phase, next), `${phase} to ${next}`).toBe(true);
    }
  }
});
