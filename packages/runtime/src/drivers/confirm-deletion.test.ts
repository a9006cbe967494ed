import { MachineError } from "@millwright/core";
import type { Machine, MachineStatus } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it, test, vi } from "vitest";
import { confirmDeletion, mayBeHiddenUntil } from "./confirm-deletion.ts";
import type { DeletionReply } from "./check-reply.ts";

const minute = 60_000;
const clock = createVirtualClock();
const start = clock.now().getTime();
const at = (ms: number): string => new Date(start + ms).toISOString();
const notFound = () => Promise.reject(new MachineError("NotFound", "no VM"));
const theVm = async () => ({ providerId: "vm-1" });

/** A machine that was created `ageMs` ago and whose deletion was just requested. */
const aMachine = (ageMs: number, { id = "vm-1", status }: { id?: string; status?: MachineStatus } = {}): Machine => ({
  metadata: { name: "m", creationTimestamp: at(-ageMs), deletionTimestamp: at(0) },
  spec: { providerID: id },
  ...(status === undefined ? {} : { status }),
});
const created = (outcome: string, ms: number): MachineStatus => ({
  history: [{ time: at(ms), operation: "Create", outcome, message: "" }],
});
const hour = 60 * minute;

describe("after the driver has deleted a VM", () => {
  const confirm = (
    reply: () => Promise<DeletionReply>,
    find: () => Promise<{ providerId: string }>,
    machine: Machine,
  ) => confirmDeletion(machine, { remove: reply, find }, clock);

  it("asks nothing when the driver has read that the VM has ended", async () => {
    const find = vi.fn<typeof theVm>(theVm);
    const ended = async () => ({ vm: "ended", lastKnownState: "s" }) as const;
    expect(await confirm(ended, find, aMachine(0))).toEqual({ lastKnownState: "s", isEndSeen: true });
    expect(find).not.toHaveBeenCalled();
  });

  it("asks once otherwise, and accepts that there is no VM, or that the driver cannot look", async () => {
    for (const code of ["NotFound", "Unimplemented"] as const) {
      const find = vi.fn<typeof theVm>(() => Promise.reject(new MachineError(code, "x")));
      expect(await confirm(async () => ({}), find, aMachine(hour))).toEqual({});
      expect(find).toHaveBeenCalledOnce();
    }
  });

  it("looks no more for a VM that is missing where the cloud shows each at once", async () => {
    const missing = { vm: "missing", showsNewVms: true } as const;
    expect(await confirm(async () => missing, notFound, aMachine(0))).toEqual({ isMissing: true });
    expect(await confirm(async () => ({ vm: "missing" }), notFound, aMachine(0))).toHaveProperty("pending");
  });

  it.each([
    ["the VM is deleted", async () => ({})],
    ["there is no VM", notFound],
  ])("fails with the id of a VM that still exists when the driver reports that %s", async (_, remove) => {
    await expect(confirm(remove, theVm, aMachine(hour))).rejects.toMatchObject({
      code: "Internal",
      message: 'VM vm-1 of machine "m" still exists after its deletion',
    });
  });

  it("fails when it cannot be known, and as the driver failed", async () => {
    const down = () => Promise.reject(new MachineError("Unavailable", "down"));
    await expect(confirm(async () => ({}), down, aMachine(hour))).rejects.toMatchObject({ code: "Unavailable" });
    await expect(confirm(down, notFound, aMachine(hour))).rejects.toMatchObject({ message: "down" });
    await expect(confirm(notFound, notFound, aMachine(hour))).rejects.toMatchObject({ code: "NotFound" });
  });

  it("looks again for a VM that may just have been requested", async () => {
    const look = (machine: Machine, remove: () => Promise<DeletionReply>) => confirm(remove, notFound, machine);
    const again = { pending: { message: expect.stringContaining("may not be visible yet"), checkAfterMs: 10_000 } };
    expect(await look(aMachine(minute), notFound)).toEqual(again);
    expect(await look(aMachine(minute), async () => ({ vm: "missing" }))).toEqual(again);
    expect(await look(aMachine(minute, { id: "" }), async () => ({}))).toEqual(again);
    // Its VM was seen, and deleted.
    expect(await look(aMachine(minute), async () => ({}))).toEqual({});
    const soon = aMachine(minute, { status: created("Successful", -2 * minute + 3_000) });
    expect(await look(soon, async () => ({ vm: "missing" }))).toMatchObject({ pending: { checkAfterMs: 3_000 } });
  });
});

describe("the time until which a VM may be hidden", () => {
  test.each<[string, Machine, number]>([
    [
      "counts from the creation that succeeded",
      aMachine(hour, { status: created("Successful", -hour) }),
      -hour + 2 * minute,
    ],
    [
      "counts from the deletion where creations may have been repeated until then",
      aMachine(hour, { id: "" }),
      2 * minute,
    ],
    [
      "is the same for a creation without a certain outcome",
      aMachine(hour, { id: "", status: created("Unavailable", -hour) }),
      2 * minute,
    ],
    [
      "is the same after a rejection, which may be that of an earlier attempt, a look-up, or another machine",
      aMachine(minute, { id: "", status: created("ResourceExhausted", 0) }),
      2 * minute,
    ],
    [
      "is the same where the last operation failed",
      aMachine(minute, {
        id: "",
        status: {
          lastOperation: { type: "Create", state: "Failed", errorCode: "InvalidArgument", lastUpdateTime: at(0) },
        },
      }),
      2 * minute,
    ],
    [
      "is the same while it is being created",
      aMachine(minute, { status: { lastOperation: { type: "Create", state: "Processing", lastUpdateTime: at(0) } } }),
      2 * minute,
    ],
    [
      "counts from the last operation",
      aMachine(hour, {
        status: { lastOperation: { type: "Create", state: "Successful", lastUpdateTime: at(-minute) } },
      }),
      minute,
    ],
  ])("%s", (_, machine, ms) => {
    expect(mayBeHiddenUntil(machine) - start).toBe(ms);
  });

  it("is over where every request was rejected, for an old VM, and an object without times", () => {
    const machine = aMachine(minute, { id: "", status: created("ResourceExhausted", 0) });
    const intent = JSON.stringify({ attempt: 2, class: "small", isRejected: true });
    const annotations = { "machine.millwright.dev/creation-intent": intent };
    expect(mayBeHiddenUntil({ ...machine, metadata: { ...machine.metadata, annotations } })).toBe(0);
    expect(mayBeHiddenUntil(aMachine(hour))).toBe(0);
    expect(mayBeHiddenUntil({ metadata: { name: "m" }, spec: {} })).toBe(0);
  });
});
