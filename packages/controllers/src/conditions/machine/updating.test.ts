import type { Machine } from "@millwright/core/machine-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, type Change, inPhase } from "../../testing/builders.ts";
import { itsNode } from "../../testing/snapshots.ts";
import type { MachineFacts } from "./facts.ts";
import { plainDifference, templateDifferences } from "./updating.ts";
import { facts, running, conditionText, withConditions } from "../../testing/written-conditions.ts";

describe("Updating", () => {
  const inPlace = (reason: string, message = ""): Partial<MachineFacts> =>
    withConditions({ type: "InPlaceUpdate", status: "True", reason, message });
  it.each<[Partial<MachineFacts>, Change<Machine>, string]>([
    [inPlace("CandidateForUpdate"), {}, "False NotUpdating"],
    [inPlace("SelectedForUpdate"), {}, "True InPlaceUpdating In-place update in progress, stage: SelectedForUpdate"],
    [inPlace("ReadyForUpdate"), {}, "True InPlaceUpdating In-place update in progress, stage: ReadyForUpdate"],
    [inPlace("UpdateSuccessful"), {}, "False NotUpdating"],
    [
      inPlace("UpdateFailed", "Node in-place update failed: no disk"),
      {},
      "True InPlaceUpdateFailed In-place update failed: no disk",
    ],
    [inPlace("UpdateFailed"), {}, "True InPlaceUpdateFailed In-place update failed"],
    [{}, inPhase("InPlaceUpdateFailed"), "True InPlaceUpdateFailed In-place update failed"],
    [{}, inPhase("InPlaceUpdating"), "True InPlaceUpdating In-place update in progress"],
    [
      { node: itsNode({ metadata: { annotations: { "node.machine.sapcloud.io/update-failed-reason": "no power" } } }) },
      inPhase("InPlaceUpdateFailed"),
      "True InPlaceUpdateFailed In-place update failed: no power",
    ],
  ])("%#", (change, phase, expected) => {
    expect(conditionText("Updating", facts(aMachine(running, phase), change))).toBe(expected);
  });
});

describe("UpToDate", () => {
  const template = aMachineSet().spec.template;
  it.each<[string, object, readonly string[]]>([
    ["nothing", {}, []],
    [
      "what is handed down in place",
      { spec: { ...template.spec, drainTimeout: "1h", nodeTemplate: { metadata: { labels: { a: "b" } } } } },
      [],
    ],
    ["the hash of the set", { metadata: { labels: { name: "pool", "machine-template-hash": "1" } } }, []],
    [
      "the class",
      { spec: { class: { kind: "MachineClass", name: "large" } } },
      ["* MachineClass small, large required"],
    ],
    ["a class that is taken away", { spec: {} }, ["* MachineClass small, none required"]],
    [
      "the group of the class",
      { spec: { class: { kind: "MachineClass", name: "small", apiGroup: "x" } } },
      ["* class.apiGroup none, x required"],
    ],
    // As many labels as before, another one.
    ["a label for another", { metadata: { labels: { other: "pool" } } }, ["* Template labels are not up-to-date"]],
    [
      "an annotation",
      { metadata: { ...template.metadata, annotations: { a: "b" } } },
      ["* Template annotations are not up-to-date"],
    ],
    [
      "a finalizer",
      { metadata: { ...template.metadata, finalizers: ["x"] } },
      ["* Template metadata is not up-to-date"],
    ],
    ["the VM", { spec: { ...template.spec, providerID: "vm-9" } }, ["* spec.providerID none, vm-9 required"]],
    [
      "something that no rule knows",
      { spec: { class: { ...template.spec.class, more: "x" } } },
      ["* Template metadata is not up-to-date"],
    ],
  ])("names %s", (_, change, expected) => {
    const current = { ...template, ...change };
    expect(templateDifferences(template, current)).toEqual(expected);
    const plain = expected.map((line) => plainDifference(line.replace("* ", "")));
    expect(plain.filter((line) => line.includes("required"))).toEqual([]);
    const deployment = { ...aMachineDeployment(), spec: { ...aMachineDeployment().spec, template: current } };
    const text = conditionText("UpToDate", facts(running, { set: aMachineSet(), deployment }));
    expect(text).toBe(expected.length === 0 ? "True UpToDate" : `False NotUpToDate ${expected.join("\n")}`);
  });

  it("is for a machine of a deployment only", () => {
    expect(conditionText("UpToDate", facts(running, { set: aMachineSet() }))).toBeUndefined();
  });

  it("waits for an update in place that is under way", () => {
    const owners = { set: aMachineSet(), deployment: aMachineDeployment() };
    expect(conditionText("UpToDate", facts(aMachine(running, inPhase("InPlaceUpdating")), owners))).toBe(
      "False Updating * In-place update in progress",
    );
  });

  it("finds no difference between a template and itself, and always one where the rollout does", () => {
    fc.assert(
      fc.property(
        fc.record({
          labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("", "1")),
          name: fc.constantFrom("small", "large"),
        }),
        ({ labels, name }) => {
          const other = { metadata: { labels }, spec: { class: { kind: "MachineClass", name } } };
          expect(templateDifferences(other, other)).toEqual([]);
          expect(templateDifferences(template, other).length).toBe(templateDifferences(other, template).length);
        },
      ),
    );
  });
});
