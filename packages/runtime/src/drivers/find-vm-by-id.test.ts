import { aMachine } from "@millwright/controllers/testing";
import { MachineError } from "@millwright/core";
import { expect, it, vi } from "vitest";
import { findVmById, type VmFinder } from "./find-vm-by-id.ts";

const signal = new AbortController().signal;
const machineClass = { metadata: { name: "small" }, provider: "mock", providerSpec: {} };
const missing = { ok: false, error: new MachineError("NotFound", "no VM") } as const;
const found = { ok: true, value: { providerId: "mock:///vm-1", nodeName: "lost" } } as const;
const aCall = (metadata: object = {}) => ({
  machine: aMachine({ spec: { providerID: "mock:///vm-1" } }, { metadata }),
  machineClass,
  secret: {},
});
const listed = (more: object = {}) => ({ providerId: "mock:///vm-1", machineName: "lost", ...more });

/** A driver that finds VMs by name, with one that was created for the Machine `lost`. */
function aFinder(vm: object = listed(), canList = true) {
  const find = vi.fn<VmFinder["find"]>(async ({ machine }) =>
    machine.metadata.annotations?.["machine.millwright.dev/vm-name"] === "lost" ? found : missing,
  );
  const list = vi.fn<VmFinder["list"]>(async () => ({ ok: true, value: [vm as ReturnType<typeof listed>] }));
  return { find, list, listsVms: () => canList };
}

it("finds the VM of an id by the name of the Machine that it was created for, which the list has", async () => {
  const finder = aFinder();
  expect(await findVmById(aCall(), finder, signal)).toEqual({ ok: true, value: { ...found.value, vmName: "lost" } });
  expect([finder.find.mock.calls.length, finder.list.mock.calls.length]).toEqual([2, 1]);
});

it("makes no list for a VM that is found, or where another call fails", async () => {
  for (const outcome of [found, { ok: false, error: new MachineError("Unavailable", "down") } as const]) {
    const finder = { ...aFinder(), find: async () => outcome };
    expect(await findVmById(aCall(), finder, signal)).toBe(outcome);
    expect(finder.list).not.toHaveBeenCalled();
  }
});

it.each([
  ["the list has it under the name of the machine", listed({ machineName: "machine" }), aCall()],
  ["it is of another namespace", listed({ machineNamespace: "other" }), aCall()],
  ["only leftovers exist", listed({ parts: ["disk"] }), aCall()],
  ["the class does not list it", listed({ providerId: "mock:///vm-2" }), aCall()],
  ["the machine names none", listed(), { ...aCall(), machine: aMachine() }],
  ["the machine is being deleted", listed(), aCall({ deletionTimestamp: "2026-01-01T00:00:00Z" })],
])("finds none where %s", async (_, vm, call) => {
  expect(await findVmById(call, aFinder(vm), signal)).toBe(missing);
});

it("finds none where the driver cannot list, and fails where the list does", async () => {
  expect(await findVmById(aCall(), aFinder(listed(), false), signal)).toBe(missing);
  const down = { ok: false, error: new MachineError("Unavailable", "down") } as const;
  expect(await findVmById(aCall(), { ...aFinder(), list: async () => down }, signal)).toBe(down);
});
