import { MachineError } from "@millwright/core";
import type { Machine } from "@millwright/core/machine-api";
import type { Log } from "@millwright/kube";
import { describe, expect, it, vi } from "vitest";
import { aMachine, aMachineClass } from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { createFakeDriver } from "../../testing/fake-driver.ts";
import type { MachineDriver } from "../../model/driver-port.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import { createOperations } from "./operations.ts";
import { createStarter } from "./start-operation.ts";
import { fixed } from "../../model/live.ts";

type EnsureVm = MachineDriver["ensureVm"];
type DeleteVm = MachineDriver["deleteVm"];

/** A creation whose machine is deleted, finalizer and all, before the driver answers with `answer`. */
async function setUp(answer: Awaited<ReturnType<EnsureVm>>, deleteVm: DeleteVm, sameName?: Machine) {
  const log = vi.fn<Log>();
  const { clock, newContext } = createTestCluster({ log });
  const operations = createOperations(clock);
  const end = Promise.withResolvers<Awaited<ReturnType<EnsureVm>>>();
  const driver = { ...createFakeDriver(), ensureVm: () => end.promise, deleteVm };
  const context = newContext();
  context.caches.machines.store.applyWrite(aMachine());
  const start = createStarter(context, {
    operations,
    driver,
    settings: fixed(defaultMachineSettings),
    tokens: undefined,
    enqueue: () => undefined,
  });
  const view = { state: "usable", machineClass: aMachineClass() } as const;
  start(aMachine(), { view, inputs: "v1", secret: {}, unread: [] }, { kind: "StartOperation", operation: "create" });
  operations.forget("uid-machine");
  const { metadata } = aMachine();
  context.caches.machines.store.applyDelete({ ...metadata, uid: metadata.uid });
  if (sameName !== undefined) context.caches.machines.store.applyWrite(sameName);
  end.resolve(answer);
  await clock.advance(0);
  return { clock, operations, log };
}

const pending = { ok: true, value: { pending: { message: "wiping disks", checkAfterMs: 60_000 } } } as const;

it("deletes the VM of a deleted machine, and calls again for as long as the deletion is pending", async () => {
  const deleteVm = vi
    .fn<DeleteVm>()
    .mockResolvedValueOnce(pending)
    .mockResolvedValueOnce(pending)
    .mockResolvedValue({ ok: true, value: {} });
  const { clock, log } = await setUp({ ok: true, value: { providerId: "vm-1", nodeName: "n" } }, deleteVm);
  await clock.advance(59_000);
  expect(deleteVm).toHaveBeenCalledTimes(1);
  await clock.advance(62_000);
  expect(deleteVm.mock.calls.map(([{ machine }]) => machine.spec.providerID)).toEqual(["vm-1", "vm-1", "vm-1"]);
  expect(log.mock.calls.map(([level]) => level)).toEqual(["warn"]);
});

it("deletes what an accepted creation would become, by the identity of the machine alone", async () => {
  const deleteVm = vi.fn<DeleteVm>().mockResolvedValue({ ok: true, value: {} });
  await setUp(pending, deleteVm);
  expect(deleteVm.mock.calls.map(([{ machine }]) => machine.spec.providerID)).toEqual([""]);
});

it("looks for the VM of a creation that was aborted, as for one that may not be visible yet, and reports only what it deleted", async () => {
  const aborted = { ok: false, error: new MachineError("Aborted", "the machine is deleted") } as const;
  const none = { ok: false, error: new MachineError("NotFound", "there is none") } as const;
  for (const [end, levels] of [
    [none, []],
    [{ ok: true, value: { isMissing: true } }, []],
    [{ ok: true, value: {} }, ["warn"]],
  ] as const) {
    const deleteVm = vi.fn<DeleteVm>().mockResolvedValueOnce(pending).mockResolvedValue(end);
    const { clock, log } = await setUp(aborted, deleteVm);
    await clock.advance(60_000);
    const deletions = deleteVm.mock.calls.map(([{ machine }]) => [
      machine.spec.providerID,
      machine.metadata.deletionTimestamp,
    ]);
    expect(deletions).toEqual([0, 1].map(() => ["", expect.any(String)]));
    expect(log.mock.calls.map(([level]) => level)).toEqual(levels);
  }
});

it.each([
  ["no id is known", { ok: false, error: new MachineError("Aborted", "deleted") }, "vm-2", 0],
  ["its VM is not known yet", { ok: true, value: { providerId: "vm-1" } }, "", 0],
  ["it has adopted the VM", { ok: true, value: { providerId: "vm-1" } }, "vm-1", 0],
  ["it has another VM", { ok: true, value: { providerId: "vm-1" } }, "vm-2", 1],
] as const)("spares a VM that may be that of a new machine of the same name: %s", async (_, answer, own, deletions) => {
  const deleteVm = vi.fn<DeleteVm>().mockResolvedValue({ ok: true, value: {} });
  const sameName = aMachine({ metadata: { uid: "uid-new" }, spec: { providerID: own } });
  await setUp(answer, deleteVm, sameName);
  expect(deleteVm).toHaveBeenCalledTimes(deletions);
});

it("logs a VM that it could not delete, also because the controller stopped while that was pending", async () => {
  const denied = vi.fn<DeleteVm>().mockResolvedValue({ ok: false, error: new MachineError("PermissionDenied", "no") });
  const { log } = await setUp({ ok: true, value: { providerId: "vm-1" } }, denied);
  expect(log).toHaveBeenCalledWith("error", expect.any(String), expect.objectContaining({ vm: "vm-1", because: "no" }));

  const stopped = await setUp(
    { ok: true, value: { providerId: "vm-1" } },
    vi.fn<DeleteVm>().mockResolvedValue(pending),
  );
  await stopped.operations.close();
  expect(stopped.log).toHaveBeenCalledWith("error", expect.any(String), expect.objectContaining({ vm: "vm-1" }));
});

describe("the deletion of a machine whose VM the driver refuses to delete", () => {
  const denied = { ok: false, error: new MachineError("PermissionDenied", "not its own") } as const;
  const machine = aMachine({ spec: { providerID: "sim:///vm-1" } });
  const vmOf = (machineName: string) => ({ providerId: "sim:///vm-1", machineName });

  /** What the operation ends with when the driver answers with this list. */
  async function deletionEnds(list: Awaited<ReturnType<MachineDriver["listVms"]>>) {
    const log = vi.fn<Log>();
    const { clock, newContext } = createTestCluster({ log });
    const operations = createOperations(clock);
    const driver = { ...createFakeDriver(), deleteVm: async () => denied, listVms: async () => list };
    const options = { operations, driver, settings: fixed(defaultMachineSettings), tokens: undefined };
    const context = newContext();
    context.caches.machines.store.applyWrite(machine);
    const start = createStarter(context, { ...options, enqueue: () => undefined });
    const view = { state: "usable", machineClass: aMachineClass() } as const;
    start(machine, { view, inputs: "v1", secret: {}, unread: [] }, { kind: "StartOperation", operation: "delete" });
    await clock.advance(0);
    const ended = operations.get("uid-machine");
    return { end: ended?.state === "failed" ? ended.code : ended?.state === "done" ? ended.result : ended?.state, log };
  }

  it("ends as if there was none, with a warning, when the VM was created for another machine", async () => {
    const { end, log } = await deletionEnds({ ok: true, value: [vmOf("original")] });
    expect(end).toEqual({ isKept: true });
    const why = expect.objectContaining({ because: "VM sim:///vm-1 was created for Machine original" });
    expect(log).toHaveBeenCalledWith("warn", expect.stringContaining("not its own"), why);
  });

  it.each([
    ["was created for it", { ok: true, value: [vmOf(machine.metadata.name)] }],
    ["is not in the list, as with a wrong cluster name", { ok: true, value: [] }],
    ["cannot be listed", { ok: false, error: new MachineError("Unimplemented", "no list") }],
  ] as const)("fails when the VM %s", async (_, list) => {
    const { end, log } = await deletionEnds(list);
    expect(end).toBe("PermissionDenied");
    expect(log).not.toHaveBeenCalled();
  });
});
