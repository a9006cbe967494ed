import { MachineError } from "@millwright/core";
import type { Log } from "@millwright/kube";
import { describe, expect, it, vi } from "vitest";
import { aMachine, aMachineClass } from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { createFakeDriver } from "../../testing/fake-driver.ts";
import type { MachineDriver } from "../../model/driver-port.ts";
import { defaultMachineSettings } from "../../model/machine-settings.ts";
import { createOperations } from "./operations.ts";
import { createStarter } from "./start-operation.ts";

type EnsureVm = MachineDriver["ensureVm"];
type DeleteVm = MachineDriver["deleteVm"];

/** A creation whose machine is deleted, finalizer and all, before the driver answers with `answer`. */
async function setUp(answer: Awaited<ReturnType<EnsureVm>>, deleteVm: DeleteVm) {
  const log = vi.fn<Log>();
  const { clock, newContext } = createTestCluster({ log });
  const operations = createOperations(clock);
  const end = Promise.withResolvers<Awaited<ReturnType<EnsureVm>>>();
  const driver = { ...createFakeDriver(), ensureVm: () => end.promise, deleteVm };
  const start = createStarter(newContext(), {
    operations,
    driver,
    settings: defaultMachineSettings,
    tokens: undefined,
    enqueue: () => undefined,
  });
  const view = { state: "usable", machineClass: aMachineClass() } as const;
  start(aMachine(), { view, inputs: "v1", secret: {}, unread: [] }, { kind: "StartOperation", operation: "create" });
  operations.forget("uid-machine");
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

  /** What the operation ends with when the driver answers the look-up with `found`. */
  async function deletionEnds(found: Awaited<ReturnType<MachineDriver["findVm"]>>) {
    const log = vi.fn<Log>();
    const { clock, newContext } = createTestCluster({ log });
    const operations = createOperations(clock);
    const driver = { ...createFakeDriver(), deleteVm: async () => denied, findVm: async () => found };
    const options = { operations, driver, settings: defaultMachineSettings, tokens: undefined };
    const start = createStarter(newContext(), { ...options, enqueue: () => undefined });
    const view = { state: "usable", machineClass: aMachineClass() } as const;
    start(aMachine(), { view, inputs: "v1", secret: {}, unread: [] }, { kind: "StartOperation", operation: "delete" });
    await clock.advance(0);
    const ended = operations.get("uid-machine");
    return { code: ended?.state === "failed" ? ended.code : ended?.state, log };
  }

  it("ends as if there was none, with a warning, when the driver finds no VM of the machine", async () => {
    const { code, log } = await deletionEnds({ ok: false, error: new MachineError("NotFound", "none") });
    expect(code).toBe("NotFound");
    const why = expect.objectContaining({ because: "not its own" });
    expect(log).toHaveBeenCalledWith("warn", expect.stringContaining("not its own"), why);
  });

  it.each([
    ["finds the VM", { ok: true, value: { providerId: "vm-1" } }],
    ["fails itself", { ok: false, error: new MachineError("Unavailable", "later") }],
  ] as const)("fails when the look-up %s", async (_, found) => {
    const { code, log } = await deletionEnds(found);
    expect(code).toBe("PermissionDenied");
    expect(log).not.toHaveBeenCalled();
  });
});
