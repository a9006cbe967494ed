import { describe, expect, it, test } from "vitest";
import { aMachineClass, labelled, named } from "../../testing/builders.ts";
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
      "VM vm-1 was not found, but its Node node is Ready: the MachineClass or its credentials may name another place. If there is no VM, delete the Node. Initiate VM deletion",
    );
    expect(held.because).toEqual([expect.objectContaining({ type: "Warning", reason: "DeletionBlocked" })]);
    const again = decide({ machine, node: itsNode(), operation }, later(10_000));
    expect(again.actions).toEqual([{ kind: "StartOperation", operation: "delete" }]);
  });

  it("is gone when its Node is not Ready, does not exist, or the deletion is forced", () => {
    expect(kindsOf(decide({ machine, node: silent, operation }))).toEqual(["DeleteNode", "PatchMachine"]);
    expect(kindsOf(decide({ machine, operation }))).toEqual(["PatchMachine"]);
    const forced = at(marker.vm, labelled({ "force-deletion": "True" }));
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
