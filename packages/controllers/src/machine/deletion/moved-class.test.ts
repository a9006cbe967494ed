import { hiddenVm, type MachineClass } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { intentAnnotation, intentFor } from "../../model/creation-intent.ts";
import { aMachine, aMachineClass, annotated, type Change, labeled, named } from "../../testing/builders.ts";
import { at, decide, marker } from "../../testing/deletions.ts";
import { failed, kindsOf, later, succeeded, testNow, unusable } from "../../testing/snapshots.ts";

const created = aMachineClass({ providerSpec: { region: "eu-1", resourceGroup: "blue", zone: "a" } });
const intent = intentFor(aMachine(), created, { wantsToken: false });
const machine = at(marker.vm, annotated(intentAnnotation(intent)));
const endedAt = testNow.getTime();
const operation = failed("delete", "NotFound", { endedAt });
const missing = { ...succeeded("delete", { isMissing: true }), endedAt };
const using = (...changes: readonly Change<MachineClass>[]) =>
  ({ state: "usable", machineClass: aMachineClass(...changes) }) as const;
const seen = { ...succeeded("delete", { isEndSeen: true }), endedAt };
const silent = { ...succeeded("delete"), endedAt };
const green = using({ providerSpec: { region: "eu-1", resourceGroup: "green" } });
const remedy = "Change it back. If the VM does not exist, set the label force-deletion=True";

test.each([
  ["resource group", green, "resourceGroup blue: MachineClass small has green"],
  [
    "default region",
    using({ providerSpec: { resourceGroup: "blue" } }),
    "region eu-1: MachineClass small has its default",
  ],
  ["Secret", using(created, { credentialsSecretRef: { name: "other" } }), "Secret small: MachineClass small has other"],
  ["class without Secret", using(created, { secretRef: null }), "Secret small: MachineClass small has none"],
  ["class", using(named("other"), { providerSpec: { region: "us-1" } }), "region eu-1: MachineClass other has us-1"],
])("a VM is not gone when it is not found with another %s than it was requested with", (_, classView, text) => {
  for (const answer of [operation, missing, silent]) {
    const held = decide({ machine, operation: answer, classView, isVmMissing: true });
    expect(held).toMatchObject({ actions: [], requeueAfterMs: 10_000 });
    expect(held.status?.lastOperation?.description).toBe(
      `VM vm-1 may still run where it was requested, with ${text} now. ${remedy}. Initiate VM deletion`,
    );
    expect(kindsOf(decide({ machine, operation: answer, classView }, later(10_000)))).toEqual(["StartOperation"]);
  }
});

const idless = { spec: { providerID: null } };

test.each([
  [
    "the class is the same in what locates VMs",
    machine,
    using(created, { providerSpec: { resourceGroup: "BLUE", zone: "b" } }),
  ],
  ["nothing is recorded, as by MCM", at(marker.vm), using({ providerSpec: { region: "eu-2" } })],
  [
    "no credentials are recorded, as of a class without Secret",
    at(
      marker.vm,
      annotated(intentAnnotation(intentFor(aMachine(), aMachineClass({ secretRef: null }), { wantsToken: false }))),
    ),
    using(created),
  ],
  [
    "every request was rejected",
    at(marker.vm, annotated(intentAnnotation({ ...intent, isRejected: true })), idless),
    green,
  ],
  [
    "the deletion is forced",
    at(marker.vm, annotated(intentAnnotation(intent)), labeled({ "force-deletion": "True" })),
    using(),
  ],
])("a VM that is not found is gone when %s", (_, deleted, classView) => {
  expect(kindsOf(decide({ machine: deleted, operation, classView }))).toEqual(["PatchMachine"]);
});

describe("a driver that has seen the VM, which its id may locate,", () => {
  it("is not in doubt", () => {
    expect(kindsOf(decide({ machine, operation: seen, classView: green }))).toEqual(["PatchMachine"]);
  });

  it("is not in doubt either where it has accepted the deletion, unlike one that waits for a VM to become visible", () => {
    const after = (message: string) =>
      decide({
        machine: at(`VM deletion is in progress: ${message}. ${marker.vm}`, annotated(intentAnnotation(intent))),
        operation: missing,
        classView: green,
      });
    expect(kindsOf(after("wiping disks"))).toEqual(["PatchMachine"]);
    expect(after(hiddenVm).actions).toEqual([]);
  });
});

describe("an answer from before a change of the class or its Secret", () => {
  it.each([
    ["NotFound", operation],
    ["missing", missing],
    ["nothing", silent],
  ])("proves nothing, as %s: the driver is called again", (_, answer) => {
    const outdated = { ...answer, inputs: "class-0/secret-1" };
    const again = decide({ machine, operation: outdated, classView: using(created) });
    expect(again.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    const unusableClass = decide({ machine, operation: outdated, classView: unusable("x", "Secret is missing") });
    expect(unusableClass).toMatchObject({ actions: [] });
    expect(unusableClass.status?.lastOperation?.description).toMatch(/^Cannot delete VM vm-1: Secret is missing/);
  });

  it("is none where the class and its Secret are the same, although the driver of the class is not loaded now", () => {
    const decision = decide({ machine, operation, classView: unusable("x", "no driver") });
    expect(kindsOf(decision)).toEqual(["PatchMachine"]);
  });

  it("ends the deletion when the driver has seen the VM, or it is that of another machine, or the deletion is forced", () => {
    const inputs = "class-0/secret-1";
    expect(kindsOf(decide({ machine, operation: { ...seen, inputs } }))).toEqual(["PatchMachine"]);
    const kept = { ...succeeded("delete", { isKept: true }), inputs };
    expect(kindsOf(decide({ machine, operation: kept }))).toEqual(["PatchMachine"]);
    const forced = at(marker.vm, labeled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine: forced, operation: { ...operation, inputs } }))).toEqual(["PatchMachine"]);
  });
});

describe("a look-up before the drain that finds no VM", () => {
  const unnamed = at(marker.status, annotated(intentAnnotation(intent)), idless, labeled({ node: "" }));
  const lookUp = failed("find", "NotFound", { endedAt });

  it("is repeated while the class is pointed elsewhere: only the driver can name the Node to drain", () => {
    const held = decide({ machine: unnamed, operation: lookUp, classView: green });
    expect(held).toMatchObject({ actions: [], requeueAfterMs: 10_000 });
    expect(held.status?.lastOperation?.description).toBe(
      `A VM may still run where it was requested, with resourceGroup blue: MachineClass small has green now. ${remedy}. ${marker.status}`,
    );
    const find = [{ kind: "StartOperation", operation: "find" }];
    expect(decide({ machine: unnamed, operation: lookUp, classView: green }, later(10_000)).actions).toEqual(find);
    const outdated = { ...lookUp, inputs: "class-0/secret-1" };
    expect(decide({ machine: unnamed, operation: outdated, classView: using(created) }).actions).toEqual(find);
  });

  it("ends the search otherwise", () => {
    const decision = decide({ machine: unnamed, operation: lookUp, classView: using(created) });
    expect(decision.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
  });
});
