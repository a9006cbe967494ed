import { labelKeys, readMachine } from "@millwright/core/machine-api";
import { applyMergePatch, controllerRefOf } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, named, ownedBy } from "../../testing/builders.ts";
import { transferPatch } from "./transfers.ts";

const templated = (hash: string, className: string, own: object = {}, metadata: object = {}) => ({
  spec: {
    selector: { matchLabels: { name: "pool", [labelKeys.machineTemplateHash]: hash } },
    template: {
      metadata: { labels: { name: "pool", [labelKeys.machineTemplateHash]: hash, ...own }, ...metadata },
      spec: { class: { kind: "MachineClass", name: className } },
    },
  },
});
const from = aMachineSet(
  named("old"),
  templated("1", "small", { zone: "a" }, { annotations: { note: "old", gone: "x" }, finalizers: ["theirs/old"] }),
);
const to = aMachineSet(
  named("new"),
  templated("2", "big", { tier: "gold" }, { annotations: { note: "new" }, finalizers: ["theirs/new"] }),
);
const other = { apiVersion: "v1", kind: "ConfigMap", name: "theirs", uid: "uid-theirs" };
const machine = aMachine(ownedBy(from), {
  metadata: {
    resourceVersion: "7",
    labels: { name: "pool", [labelKeys.machineTemplateHash]: "1", zone: "a", node: "node-1" },
    annotations: { note: "old", gone: "x", "machine.millwright.dev/own": "stays" },
    finalizers: ["machine.sapcloud.io/machine-controller-manager", "theirs/old"],
  },
  spec: { providerID: "vm-1" },
});
const shared = {
  ...machine,
  metadata: { ...machine.metadata, ownerReferences: [other, ...(machine.metadata.ownerReferences ?? [])] },
};

describe("transferPatch", () => {
  const after = readMachine(applyMergePatch(shared, transferPatch(shared, from, to)));
  if (!after.ok) throw new Error("the patch makes what cannot be");
  const { metadata, spec } = after.value;

  it("gives the machine its new manager, and leaves other owners", () => {
    expect(controllerRefOf(after.value)).toMatchObject({ kind: "MachineSet", name: "new", uid: "uid-new" });
    expect(metadata.ownerReferences).toHaveLength(2);
    expect(metadata.ownerReferences).toContainEqual(other);
  });

  it("replaces what came from the template: labels, annotations, finalizers, class", () => {
    expect(metadata.labels).toEqual({
      name: "pool",
      [labelKeys.machineTemplateHash]: "2",
      tier: "gold",
      node: "node-1",
      [labelKeys.updateResult]: "successful",
    });
    expect(metadata.annotations).toEqual({ note: "new", "machine.millwright.dev/own": "stays" });
    expect(metadata.finalizers).toEqual(["machine.sapcloud.io/machine-controller-manager", "theirs/new"]);
    expect(spec).toEqual({ class: { kind: "MachineClass", name: "big" }, providerID: "vm-1" });
  });

  it("holds for the version of the machine that was seen, and writes no finalizers that stay", () => {
    expect(transferPatch(shared, from, to)).toMatchObject({
      metadata: { resourceVersion: "7", uid: machine.metadata.uid },
    });
    const alike = aMachineSet(named("new"), templated("2", "big"));
    const plain = aMachineSet(named("old"), templated("1", "small"));
    expect(transferPatch(aMachine(ownedBy(plain)), plain, alike)).not.toHaveProperty("metadata.finalizers");
  });
});
