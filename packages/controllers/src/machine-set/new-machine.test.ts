import { annotationKeys, finalizers, validateMachine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineSet, annotated, testNamespace } from "../testing/builders.ts";
import { newMachine } from "./new-machine.ts";

const timeout = (value: string) => annotated({ [annotationKeys.effectiveCreationTimeout]: value });

describe("newMachine", () => {
  it("has the template's spec, belongs to the set, and is created with its finalizer", () => {
    const set = aMachineSet({
      spec: {
        template: {
          metadata: { labels: { zone: "a" }, annotations: { note: "x" }, finalizers: ["example.org/hold"] },
          spec: { drainTimeout: "1h0m0s" },
        },
      },
    });
    const machine = newMachine(set, "set-abcde");
    expect(validateMachine(machine)).toEqual([]);
    expect(machine).toEqual({
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "Machine",
      metadata: {
        name: "set-abcde",
        namespace: testNamespace,
        labels: { name: "pool", zone: "a" },
        annotations: { note: "x" },
        finalizers: ["example.org/hold", finalizers.machine],
        ownerReferences: [
          {
            apiVersion: "machine.sapcloud.io/v1alpha1",
            kind: "MachineSet",
            name: "set",
            uid: "uid-set",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { class: { kind: "MachineClass", name: "small" }, drainTimeout: "1h0m0s" },
    });
  });

  it("does not name the node of the machine that its template was copied from", () => {
    const set = aMachineSet({ spec: { template: { metadata: { labels: { zone: "a", node: "cp-1" } } } } });
    expect(newMachine(set, "m").metadata.labels).toEqual({ name: "pool", zone: "a" });
  });

  it("matches a selector with the label of the node, too", () => {
    const own = { name: "pool", node: "cp-1" };
    const set = aMachineSet({ spec: { selector: { matchLabels: own }, template: { metadata: { labels: own } } } });
    expect(newMachine(set, "m").metadata.labels).toEqual(own);
  });

  it("carries its finalizer once when the template has it, too", () => {
    const set = aMachineSet({ spec: { template: { metadata: { finalizers: [finalizers.machine] } } } });
    expect(newMachine(set, "m").metadata.finalizers).toEqual([finalizers.machine]);
  });

  it("is given the creation time that the set is given", () => {
    const machine = newMachine(
      aMachineSet(timeout("30m"), { spec: { template: { spec: { creationTimeout: "10m" } } } }),
      "m",
    );
    expect(machine.spec.creationTimeout).toBe("30m");
    expect(machine.metadata.annotations).toEqual({ [annotationKeys.effectiveCreationTimeout]: "30m" });
  });

  it("follows the template when the creation time of the set does not read as a duration", () => {
    const machine = newMachine(
      aMachineSet(timeout("soon"), { spec: { template: { spec: { creationTimeout: "10m" } } } }),
      "m",
    );
    expect(machine.spec.creationTimeout).toBe("10m");
  });
});
