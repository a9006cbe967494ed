import { describe, expect, it, test } from "vitest";
import { aMachineClass, labeled, named } from "../../testing/builders.ts";
import { at, decide, marker } from "../../testing/deletions.ts";
import { failed, itsNode, kindsOf, later, succeeded, testNow } from "../../testing/snapshots.ts";

const endedAt = testNow.getTime();
const ends = [
  ["the driver rejects with NotFound", failed("delete", "NotFound", { endedAt })],
  ["the driver answers that it is missing", { ...succeeded("delete", { isMissing: true }), endedAt }],
] as const;
const silent = itsNode({ status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
const machine = at(marker.vm, { spec: { providerID: "vm-1" } });

describe.each(ends)("a VM that is not found, as %s", (_, operation) => {
  it("is looked for again while its Node is Ready: the class may name another account", () => {
    const held = decide({ machine, node: itsNode(), operation });
    expect(held).toMatchObject({ actions: [], requeueAfterMs: 10_000 });
    expect(held.status?.lastOperation?.description).toBe(
      "VM vm-1 was not found, but its Node node is Ready: the MachineClass or its credentials may name another place. If the VM does not exist, delete the Node. Initiate VM deletion",
    );
    expect(held.because).toEqual([expect.objectContaining({ type: "Warning", reason: "DeletionBlocked" })]);
    const again = decide({ machine, node: itsNode(), operation }, later(10_000));
    expect(again.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
  });

  it("is gone when its Node is not Ready, does not exist, or the deletion is forced", () => {
    expect(kindsOf(decide({ machine, node: silent, operation }))).toEqual(["DeleteNode", "PatchMachine"]);
    expect(kindsOf(decide({ machine, operation }))).toEqual(["PatchMachine"]);
    const forced = at(marker.vm, labeled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine: forced, node: itsNode(), operation }))).toEqual(["DeleteNode", "PatchMachine"]);
  });

  it("is looked for with its own class, not with the one that is used in its place", () => {
    const classView = { state: "usable", machineClass: aMachineClass(named("other")) } as const;
    const held = decide({ machine, operation, classView });
    expect(held.actions).toEqual([]);
    expect(held.status?.lastOperation?.description).toMatch(
      /^VM vm-1 was not found with MachineClass other, which is used as MachineClass small does not exist/,
    );
  });
});

test.each([
  ["was found and deleted", {}, "VM deletion was successful"],
  ["is kept, as it is that of another machine", { isKept: true }, "VM not found. Continuing deletion flow"],
])("a VM that %s ends the deletion, whatever its Node reports", (_, result, text) => {
  const decision = decide({ machine, node: itsNode(), operation: succeeded("delete", result) });
  expect(kindsOf(decision)).toEqual(["DeleteNode", "PatchMachine"]);
  expect(decision.because[0]?.message).toContain(text);
});

describe("a deletion whose class has a list of VMs that proves nothing", () => {
  const listDoubt = { kind: "doubtful", missing: 3, machines: 4 } as const;
  const deleted = { ...succeeded("delete"), endedAt };

  it.each([...ends, ["the driver answers nothing, or that it has ended", deleted] as const])(
    "does not end when %s, without a Node that is Ready",
    (_, operation) => {
      const held = decide({ machine, node: silent, operation, listDoubt });
      expect(held).toMatchObject({ actions: [], requeueAfterMs: 60_000 });
      expect(held.status?.lastOperation?.description).toBe(
        "VM vm-1 may still run: VMs of 3 of 4 machines of MachineClass small are not listed. Check its credentials and the fields that locate VMs. If the VM does not exist, set the label force-deletion=True. Initiate VM deletion",
      );
      const again = decide({ machine, node: silent, operation, listDoubt }, later(60_000));
      expect(again.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
    },
  );

  it("ends when it is forced, the VM is known to be missing, or is that of another machine", () => {
    const forced = at(marker.vm, labeled({ "force-deletion": "True" }));
    expect(kindsOf(decide({ machine: forced, operation: deleted, listDoubt }))).toEqual(["PatchMachine"]);
    expect(kindsOf(decide({ machine, operation: deleted, listDoubt, isVmMissing: true }))).toEqual(["PatchMachine"]);
    const kept = { ...succeeded("delete", { isKept: true }), endedAt };
    expect(kindsOf(decide({ machine, operation: kept, listDoubt }))).toEqual(["PatchMachine"]);
  });

  it("ends with an answer from after a list that has VMs again, and not with one from before", () => {
    const before = { kind: "over", atMs: endedAt + 1 } as const;
    expect(kindsOf(decide({ machine, operation: deleted, listDoubt: before }))).toEqual(["StartOperation"]);
    const after = { kind: "over", atMs: endedAt } as const;
    expect(kindsOf(decide({ machine, operation: deleted, listDoubt: after }))).toEqual(["PatchMachine"]);
  });
});

describe("a deletion before the first list of the VMs of its class", () => {
  const listDoubt = { kind: "no list" } as const;

  it.each(ends)("waits for it when %s", (_, operation) => {
    const held = decide({ machine, operation, listDoubt });
    expect(held).toMatchObject({ actions: [], requeueAfterMs: 10_000 });
    expect(held.status?.lastOperation?.description).toContain(
      "VM vm-1 was not found. Waiting for the first list of the VMs of MachineClass small",
    );
  });

  it("ends when the driver has deleted the VM, or none is known", () => {
    expect(kindsOf(decide({ machine, operation: succeeded("delete"), listDoubt }))).toEqual(["PatchMachine"]);
    const operation = failed("delete", "NotFound", { endedAt });
    const unknown = at(marker.vm, { spec: { providerID: "" } });
    expect(kindsOf(decide({ machine: unknown, operation, listDoubt }))).toEqual(["PatchMachine"]);
  });
});
