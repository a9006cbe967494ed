import { describe, expect, it } from "vitest";
import { ownsVm, type OwnerMarks } from "./owns-vm.ts";

const machine = { name: "m", namespace: "shoot", uid: "new" };
/** A VM with all tags, that no provider id names. */
const own: OwnerMarks = {
  machineName: "m",
  namespace: "shoot",
  machineUid: "new",
  isOfCluster: true,
  isNamedById: false,
};
const ofBefore = { machineUid: "old" };
const named = { isNamedById: true };
const nothingKnown = { machineUid: "", namespace: "" };
const unknownMachine = { ...machine, uid: "" };

describe("whether a VM was made for a machine", () => {
  it.each<[string, boolean, Partial<OwnerMarks>, typeof machine]>([
    ["it has the machine's name and UID", true, {}, machine],
    ["it has its UID, and the tags of the class were changed since", true, { isOfCluster: false }, machine],
    ["it has its UID, and its namespace was changed by hand", true, { namespace: "other" }, machine],
    ["it has its UID, and another name", false, { machineName: "n" }, machine],

    ["it has neither UID nor namespace, as MCM's do", true, nothingKnown, machine],
    ["it has no UID, and is of another cluster", false, { ...nothingKnown, isOfCluster: false }, machine],
    ["it has no UID, and has another name", false, { ...nothingKnown, machineName: "n" }, machine],
    ["it has no UID, and is of another namespace", false, { machineUid: "", namespace: "other" }, machine],
    ["an orphan is deleted, whose machine is unknown", true, {}, unknownMachine],
    ["an orphan of another cluster is named", false, { isOfCluster: false, ...named }, unknownMachine],
    ["neither side knows a UID", true, nothingKnown, unknownMachine],

    ["it is that of the machine before it was restored, and the id names it", true, { ...ofBefore, ...named }, machine],
    ["it is such a VM, and has no namespace", true, { ...ofBefore, ...named, namespace: "" }, machine],
    [
      "it is such a VM, and the machine has no namespace",
      true,
      { ...ofBefore, ...named },
      { ...machine, namespace: "" },
    ],
    ["it is that of a machine that was deleted and created again: no id names it", false, ofBefore, machine],
    ["the id names it, and it is of another cluster", false, { ...ofBefore, ...named, isOfCluster: false }, machine],
    ["the id names it, and it is of another namespace", false, { ...ofBefore, ...named, namespace: "other" }, machine],
    ["the id names it, and it is of another machine", false, { ...ofBefore, ...named, machineName: "n" }, machine],
    [
      "the id names it, and it has no tags",
      false,
      { ...nothingKnown, ...named, machineName: "", isOfCluster: false },
      machine,
    ],
  ])("when %s: %s", (_, expected, marks, of) => {
    expect(ownsVm(of, { ...own, ...marks })).toBe(expected);
  });
});
