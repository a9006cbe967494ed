import { allowsTransition, phaseOf } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { aMachine, aMachineClass, createdAt, inPhase, testNamespace } from "../../testing/builders.ts";
import {
  withIntent,
  decide,
  failedBefore,
  intent,
  recordIntent,
  startAgain,
  startCreate,
  vm,
} from "../../testing/creations.ts";
import { aSnapshot, failed, running, succeeded, withVm } from "../../testing/snapshots.ts";
import { needsCreation } from "../../model/provisioning.ts";

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

describe("the request of a VM from the driver", () => {
  it("comes after its intent", () => {
    expect(decide()).toEqual({ actions: [recordIntent(), startCreate], because: [] });
  });

  it("does not write an intent that is stored", () => {
    expect(decide({ machine: aMachine(withIntent) }).actions).toEqual([startCreate]);
  });

  it("stores the names of the secrets, region, zone and the need for a token, when the class has them, and nothing else of it", () => {
    const nodeTemplate = { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region: "r", zone: "z" };
    const credentials = { name: "cloud", namespace: testNamespace };
    const machineClass = aMachineClass({ nodeTemplate, credentialsSecretRef: credentials, providerSpec: { a: "b" } });
    const { secretRef, ...rest } = intent;
    const change = { wantsToken: true, classView: { state: "usable", machineClass } } as const;
    expect(decide(change).actions).toEqual([
      recordIntent({ ...rest, region: "r", zone: "z", secretRef, credentialsSecretRef: "cloud", bootstrapToken: true }),
      { ...startCreate, launch: { name: "small", isRepeated: false } },
    ]);
  });

  it("is stored again when the class has changed, with the same token: a VM of the attempt may exist", () => {
    const machineClass = aMachineClass({ provider: "other" });
    const change = { machine: aMachine(withIntent), classView: { state: "usable", machineClass } } as const;
    expect(decide(change).actions).toEqual([recordIntent({ ...intent, provider: "other" }), startCreate]);
  });

  it("has another token only when the driver reported that nothing is left of the attempt", () => {
    const retry = (isTokenSpent: boolean) => {
      const operation = failed("create", "ResourceExhausted", { isAcknowledged: true, endedAt: 0, isTokenSpent });
      return decide({ machine: aMachine(withIntent), operation }).actions;
    };
    expect(retry(false)).toEqual([startCreate]);
    expect(retry(true)).toEqual([recordIntent({ ...intent, attempt: 2 }), { ...startCreate, token: "uid-machine-2" }]);
  });

  it("waits while the call runs", () => {
    expect(decide({ operation: running("create") })).toEqual({ actions: [], because: [] });
  });

  it("is repeated, after a restart, for a machine in CrashLoopBackOff", () => {
    const machine = aMachine(withIntent, failedBefore());
    expect(decide({ machine }).actions).toEqual([startAgain]);
  });
});

it("takes no way from phase to phase that the table does not have", () => {
  for (const phase of ["", "CrashLoopBackOff", "Running", "Unknown", "Pending"] as const) {
    for (const operation of [succeeded("create", vm), failed("create", "Internal")]) {
      const machine = aMachine(inPhase(phase), createdAt("2025-01-01T00:00:00Z"));
      const { status } = decide({ machine, operation });
      const next = phaseOf(status === undefined ? machine : { status });
      expect(next !== undefined && allowsTransition(phase, next), `${phase} to ${next}`).toBe(true);
    }
  }
});
