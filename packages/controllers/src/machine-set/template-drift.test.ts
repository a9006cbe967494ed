import { annotationKeys, type Machine, type MachineSpec } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, annotated, beingDeleted, type Change, inPhase } from "../testing/builders.ts";
import { templateDrift } from "./template-drift.ts";

const driftOf = (template: Change<MachineSpec>, ...machine: readonly Change<Machine>[]) =>
  templateDrift(aMachineSet({ spec: { template: { spec: template } } }), aMachine(...machine));

describe("templateDrift", () => {
  it.each<[string, Change<MachineSpec>, Change<MachineSpec>, object | undefined]>([
    ["nothing when the machine matches the template", { drainTimeout: "1h" }, { drainTimeout: "1h" }, undefined],
    ["a new timeout", { drainTimeout: "2h" }, { drainTimeout: "1h" }, { drainTimeout: "2h" }],
    ["a timeout that is no longer set", {}, { healthTimeout: "1h" }, { healthTimeout: null }],
    [
      "a switch that is turned off",
      { disableHealthTimeout: false },
      { disableHealthTimeout: true },
      { disableHealthTimeout: false },
    ],
    [
      "a label of the node",
      { nodeTemplate: { metadata: { labels: { a: "2" } } } },
      { nodeTemplate: { metadata: { labels: { a: "1", b: "1" } } } },
      { nodeTemplate: { metadata: { labels: { a: "2", b: null } } } },
    ],
    ["the kind of the class", { class: { kind: "GreatClass", name: "small" } }, {}, { class: { kind: "GreatClass" } }],
    [
      "no other name of the class, which asks for new machines",
      { class: { kind: "MachineClass", name: "big" } },
      {},
      undefined,
    ],
    ["no id of the VM", {}, { providerID: "mock:///1" }, undefined],
  ])("hands down %s", (_, template, machine, expected) => {
    const patch = driftOf(template, { spec: machine });
    expect(patch).toEqual(expected === undefined ? undefined : { spec: expected });
  });

  it("is gone once it has been applied", () => {
    const set = aMachineSet({
      spec: { template: { spec: { drainTimeout: "2h", nodeConditions: "X", class: { kind: "K" } } } },
    });
    const machine = aMachine({ spec: { healthTimeout: "1h", providerID: "mock:///1" } });
    const patched = aMachine(applyMergePatch(machine, templateDrift(set, machine)) as Machine, {
      spec: { healthTimeout: null },
    });
    expect(templateDrift(set, patched)).toBeUndefined();
    expect(patched.spec.providerID).toBe("mock:///1");
  });

  it.each<[string, Change<Machine>]>([
    ["broken", inPhase("Failed")],
    ["Terminating", inPhase("Terminating")],
    ["being deleted", beingDeleted()],
  ])("leaves a machine alone that is %s", (_, change) => {
    expect(driftOf({ drainTimeout: "2h" }, change)).toBeUndefined();
  });

  it("keeps the creation time that a machine was given at birth", () => {
    const own = annotated({ [annotationKeys.effectiveCreationTimeout]: "30m" });
    expect(driftOf({ creationTimeout: "10m" }, own, { spec: { creationTimeout: "30m" } })).toBeUndefined();
  });

  it("follows the template where the creation time given at birth could not be read", () => {
    const own = annotated({ [annotationKeys.effectiveCreationTimeout]: "soon" });
    expect(driftOf({ creationTimeout: "10m" }, own, { spec: { creationTimeout: "5m" } })).toEqual({
      spec: { creationTimeout: "10m" },
    });
  });
});
