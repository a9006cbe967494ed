import type { Machine, MachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Condition } from "@millwright/kube";
import {
  aMachine,
  aMachineSet,
  beingDeleted,
  type Change,
  createdAt,
  inPhase,
  labeled,
  named,
} from "../testing/builders.ts";
import { someConditionInputs } from "../testing/judged-machines.ts";
import { setConditionsOf, withSetConditions } from "./cluster-api-conditions.ts";
import { decideMachineSet } from "./decide.ts";
import { creationHolds } from "./plan-replicas.ts";

const now = new Date("2026-01-01T00:10:00Z");
const machines = (...changes: readonly Change<Machine>[]): readonly Machine[] =>
  changes.map((change, index) => aMachine(named(`m-${index}`), change));
const textsOf = (
  set: Change<MachineSet>,
  owned: readonly Machine[],
  legacy: readonly Condition[] = [],
  classes: ReadonlySet<string> = new Set(["small"]),
) => {
  const facts = { set: aMachineSet(set), owned, legacy, inputs: someConditionInputs({ classes }) };
  return Object.fromEntries(
    setConditionsOf(facts, now).states.map(({ type, status, message }) => [type, `${status} ${message}`.trim()]),
  );
};
const failed = (name: string, at: string, code?: string): Change<Machine> => ({
  ...createdAt(at),
  status: {
    ...inPhase("CrashLoopBackOff").status,
    lastOperation: { description: `${name}${"x".repeat(300)}`, ...(code === undefined ? {} : { errorCode: code }) },
  },
});

describe("ScalingUp of a set", () => {
  it("lists everything that blocks it, in its order", () => {
    const set = labeled({ freeze: "True", "node.machine.sapcloud.io/scale-up-disabled": "true" });
    const legacy = [
      { type: "Frozen", status: "True", message: "3 >= 3" },
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "no quota" },
    ];
    expect(textsOf(set, [], legacy, new Set())["ScalingUp"]).toBe(
      [
        "True Scaling up from 0 to 3 replicas is blocked because:",
        "* MachineSet is frozen (3 >= 3)",
        "* scale-up is disabled by label node.machine.sapcloud.io/scale-up-disabled",
        "* MachineClass small does not exist",
        "* last creation failed: no quota",
      ].join("\n"),
    );
    expect(textsOf(set, machines({}, {}, {}))["ScalingUp"]).toBe(
      "False Scaling up would be blocked because MachineSet is frozen",
    );
  });

  it.each([
    ["listing", "waiting for the list of VMs of MachineClass small"],
    ["ownerless", "VMs of MachineClass small without Machine exist; see DeletionsHeld"],
  ] as const)("names VMs that may be those of the missing machines: %s", (blocked, text) => {
    const set = aMachineSet();
    const facts = {
      set,
      owned: [],
      legacy: [],
      inputs: someConditionInputs({ classes: new Set(["small"]) }),
    };
    const { states } = setConditionsOf({ ...facts, blocked: creationHolds[blocked](set) }, now);
    expect(states.find(({ type }) => type === "ScalingUp")?.message).toContain(text);
  });

  it("reports the truncated failure of the newest machine, and a rejected deletion only where it scales down", () => {
    const owned = machines(
      failed("old", "2026-01-01T00:00:00Z", "Internal"),
      failed("new", "2026-01-01T00:05:00Z", "ResourceExhausted"),
      failed("same", "2026-01-01T00:05:00Z"),
    );
    const legacy = [{ type: "ReplicaFailure", status: "True", reason: "FailedDelete", message: "no right" }];
    expect(textsOf({}, owned, legacy)["ScalingUp"]).toBe(
      `False Scaling up would be blocked because last VM creation failed: ResourceExhausted: new${"x".repeat(197)}`,
    );
    expect(textsOf({ spec: { replicas: 2 } }, owned, legacy)["ScalingDown"]).toBe(
      "True Scaling down from 3 to 2 replicas\n* last deletion failed: no right",
    );
    expect(textsOf({}, machines(failed("", "2026-01-01T00:00:00Z")))["ScalingUp"]).toContain(
      "* last VM creation failed: xxx",
    );
  });

  it("names an invalid spec, with which nothing is scaled", () => {
    const legacy = [
      { type: "SpecValid", status: "False", reason: "Invalid", message: "* spec.selector: must not be empty" },
    ];
    const block = "the spec is not valid: see SpecValid";
    const texts = textsOf({ spec: { replicas: 3 } }, machines({}), legacy);
    expect(texts["ScalingUp"]).toBe(`True Scaling up from 1 to 3 replicas is blocked because:\n* ${block}`);
    expect(textsOf({ spec: { replicas: 0 } }, machines({}), legacy)["ScalingDown"]).toBe(
      `True Scaling down from 1 to 0 replicas\n* ${block}`,
    );
  });

  it("has no blocks while the set is deleted", () => {
    expect(textsOf(beingDeleted(), [], [], new Set())["ScalingUp"]).toBe("False");
  });
});

describe("ScalingDown of a set", () => {
  it("leaves out machines that were just handed over to it, as far as there are too many", () => {
    const handedOver = labeled({ "node.machine.sapcloud.io/update-result": "successful" });
    expect(textsOf({ spec: { replicas: 1 } }, machines({}, handedOver, handedOver))["ScalingDown"]).toBe("False");
    expect(textsOf({ spec: { replicas: 1 } }, machines({}, {}, handedOver))["ScalingDown"]).toBe(
      "True Scaling down from 2 to 1 replicas",
    );
    expect(textsOf({ spec: { replicas: 0 } }, machines({}))["ScalingDown"]).toBe(
      "True Scaling down from 1 to 0 replicas",
    );
  });
});

describe("a set whose spec cannot be read", () => {
  it("reports only what does not depend on it", () => {
    const inputs = someConditionInputs({ isSpecReadable: false });
    const { states } = setConditionsOf({ set: aMachineSet(), owned: [], legacy: [], inputs }, now);
    expect(states.map(({ type, status }) => `${type} ${status}`)).toEqual([
      "ScalingDown Unknown",
      "ScalingUp Unknown",
      "MachinesUpToDate Unknown",
      "Remediating False",
      "MachinesReady True",
      "Deleting False",
    ]);
  });
});

it("adds nothing to a pass that writes no status", () => {
  const set = aMachineSet({ metadata: { finalizers: null } });
  const snapshot = { set, claim: { owned: [], adopt: [], release: [] }, problems: [] };
  const decision = decideMachineSet(snapshot, now);
  expect(withSetConditions(decision, snapshot, someConditionInputs(), now)).toBe(decision);
});
