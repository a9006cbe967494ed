import { type Machine, machineResource, readMachine } from "@millwright/core/machine-api";
import { createStore, isConflict } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createControlWriter } from "./control-writer.ts";
import { readInto } from "./readable.ts";

const ref = { namespace: testNamespace, name: "machine" };
const read = readInto(readMachine, (metadata): Machine => ({ metadata, spec: {} }));

/** A writer of a machine with that status, as the cache has it. */
function setUp(status?: object) {
  const { api, newContext } = createTestCluster();
  const store = createStore<Machine>();
  const seeded = api.seed<Machine>(machineResource, { ...aMachine(), ...(status === undefined ? {} : { status }) });
  const machine = read(seeded);
  store.applyEvent(machine);
  const writer = createControlWriter(newContext(), machineResource, store);
  return { api, store, machine, writer, stored: () => api.peek<Machine>(machineResource, ref)?.status };
}

const outcomeOf = async (write: Promise<void>): Promise<string> =>
  write.then(
    () => "written",
    (error: unknown) => (isConflict(error) ? `conflict: ${error.message}` : `failed: ${String(error)}`),
  );

describe("writing a status", () => {
  it("writes only what differs, and stores the answer in the cache", async () => {
    const { api, store, machine, writer, stored } = setUp({
      currentStatus: { phase: "Pending", timeoutActive: true },
      lastKnownState: "old",
    });
    api.change(machineResource, ref, {
      status: { joinDuration: "5s", currentStatus: { preserveExpiryTime: "2026-01-01T00:00:00Z" } },
    });
    await writer.writeStatus(machine, { currentStatus: { phase: "Running", timeoutActive: true } });
    const expected = {
      joinDuration: "5s",
      currentStatus: { phase: "Running", timeoutActive: true, preserveExpiryTime: "2026-01-01T00:00:00Z" },
    };
    expect(stored()).toEqual(expected);
    expect(store.getByRef(ref)?.status).toEqual(expected);
  });

  it("sends nothing when nothing differs", async () => {
    const { api, machine, writer } = setUp({ lastKnownState: "same" });
    await writer.writeStatus(machine, { lastKnownState: "same" });
    expect(api.calls).toEqual([]);
  });

  it.each([undefined, { lastKnownState: "old" }])(
    "never writes the status %j of a machine to another one of its name",
    async (status) => {
      const { api, machine, writer, stored } = setUp(status);
      api.remove(machineResource, ref);
      api.seed<Machine>(machineResource, { ...machine, metadata: { ...machine.metadata, uid: "new" } });
      const before = stored();
      // It is no refusal either, which would be backed off.
      for (let attempt = 0; attempt < 3; attempt++)
        expect(await outcomeOf(writer.writeStatus(machine, { lastKnownState: "new" }))).toBe(
          "conflict: Machine machine was replaced or changed since it was read",
        );
      expect(stored()).toEqual(before);
      expect(api.writes()).toHaveLength(3);
    },
  );

  it("writes the first status, but not over one that is not in the cache yet", async () => {
    const { machine, writer, stored } = setUp();
    await writer.writeStatus(machine, { lastKnownState: "first" });
    expect(await outcomeOf(writer.writeStatus(machine, { joinDuration: "5s" }))).toContain("conflict");
    expect(stored()).toEqual({ lastKnownState: "first" });
  });

  it("is a conflict when the status that it changes no longer exists", async () => {
    const { api, machine, writer } = setUp({ currentStatus: { phase: "Pending" } });
    api.change(machineResource, ref, { status: null });
    expect(await outcomeOf(writer.writeStatus(machine, { currentStatus: { phase: "Running" } }))).toContain("conflict");
  });

  it("replaces a status that cannot be read", async () => {
    const { machine, writer, stored } = setUp({ lastOperation: 7, lastKnownState: 7 });
    await writer.writeStatus(machine, { lastKnownState: "readable" });
    expect(stored()).toEqual({ lastKnownState: "readable" });
  });
});
