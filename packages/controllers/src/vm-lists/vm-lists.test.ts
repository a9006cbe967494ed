import { type ListedMachine, MachineError, type MachineErrorCode } from "@millwright/core";
import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import type { FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { VmListDriver } from "../model/driver-port.ts";
import { aMachine, aMachineClass, inPhase, named, refOf, testNamespace } from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { createVmLists, type VmList } from "./vm-lists.ts";

const MINUTE = 60_000;
const userData = Buffer.from("#cloud-config").toString("base64");

/** The lists of the class `small`, of a driver that answers with `answer`. */
async function start(
  change: Partial<VmListDriver> & { readonly fails?: (name: string) => MachineErrorCode | undefined } = {},
  prepare: (api: FakeApi) => void = () => {},
) {
  const calls: string[] = [];
  const lists: VmList[] = [];
  const vms: readonly ListedMachine[] = [{ providerId: "vm-a", machineName: "a" }];
  const driver: VmListDriver = {
    missingDriver: () => undefined,
    listsVms: () => true,
    listVms: async ({ machineClass }) => {
      const { name } = machineClass.metadata;
      calls.push(name);
      const code = change.fails?.(name);
      return code === undefined ? { ok: true, value: vms } : { ok: false, error: new MachineError(code, "no answer") };
    },
    ...change,
  };
  const cluster = await runControllers(
    (context) => {
      const vmLists = createVmLists(context, driver);
      vmLists.onList(async (list) => void lists.push(list));
      return [vmLists.controller];
    },
    (api) => {
      api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
      api.seed(machineClassResource, aMachineClass());
      prepare(api);
    },
  );
  return { ...cluster, calls, lists };
}

describe("the VMs of a class", () => {
  it("are listed after the start, and in every period", async () => {
    const { calls, lists, settle } = await start();
    await settle(MINUTE);
    expect(calls).toEqual(["small"]);
    expect(lists.map(({ vms }) => vms)).toEqual([[{ providerId: "vm-a", machineName: "a" }]]);
    await settle(60 * MINUTE);
    expect(calls).toHaveLength(5);
  });

  it("are given with the machines that had a VM when the list was requested", async () => {
    const { lists, settle } = await start({}, (api) => {
      const withId = { spec: { providerID: "vm" } };
      api.seed(machineResource, aMachine(named("runs"), withId, inPhase("Running")));
      api.seed(machineResource, aMachine(named("creating"), withId, inPhase("CrashLoopBackOff")));
      api.seed(machineResource, aMachine(named("without"), inPhase("Running")));
      api.seed(machineResource, aMachine(named("other"), withId, { spec: { class: { name: "large" } } }));
      api.seed(
        machineResource,
        aMachine(named("terminating"), withId, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      );
    });
    await settle(MINUTE);
    expect(lists[0]?.machines.map(({ metadata }) => metadata.name)).toEqual(["runs"]);
  });

  it.each<[string, (api: FakeApi) => void]>([
    ["a machine without provider id is deleted", (api) => api.remove(machineResource, refOf("without"))],
    [
      "several VMs are found for a machine",
      (api) => {
        const lastOperation = { description: "Cloud provider message - machine codes error: code = [OutOfRange]" };
        api.change<Machine>(machineResource, refOf("with"), { status: { lastOperation } });
      },
    ],
  ])("are listed again when %s, once a minute at most", async (_, happens) => {
    const { api, calls, settle } = await start({}, (seeded) => {
      seeded.seed(machineResource, aMachine(named("without")));
      seeded.seed(machineResource, aMachine(named("with"), { spec: { providerID: "vm" } }));
    });
    await settle(MINUTE);
    happens(api);
    await settle(MINUTE);
    expect(calls).toHaveLength(2);
    await settle(10 * MINUTE);
    expect(calls).toHaveLength(2);
  });

  it("are not listed again when a machine is deleted with its VM", async () => {
    const { api, calls, settle } = await start({}, (seeded) => {
      seeded.seed(machineResource, aMachine(named("with"), { spec: { providerID: "vm" } }));
    });
    await settle(MINUTE);
    api.remove(machineResource, refOf("with"));
    await settle(5 * MINUTE);
    expect(calls).toHaveLength(1);
  });

  it("are listed with backoff while that fails, reported as long as it lasts, and other classes are listed all the same", async () => {
    const { calls, events, settle } = await start(
      { fails: (name) => (name === "small" ? "Unauthenticated" : undefined) },
      (api) => api.seed(machineClassResource, aMachineClass(named("other"))),
    );
    await settle(12 * MINUTE);
    // After 1, 3 and 7 minutes.
    expect(calls.filter((name) => name === "small")).toHaveLength(4);
    expect(calls.filter((name) => name === "other")).toHaveLength(1);
    const event = "FailedListVMs Failed to list the VMs of the class: Unauthenticated: no answer";
    expect(events).toEqual([event]);
    // An event of the first hour is forgotten by then.
    await settle(90 * MINUTE);
    expect(events.length).toBeGreaterThan(2);
    expect(new Set(events)).toEqual(new Set([event]));
  });

  it("are reported once when they can be listed again, and not when their class is new", async () => {
    const faults = new Map([["small", "Unauthenticated" as const]]);
    const { api, events, settle } = await start({ fails: (name) => faults.get(name) });
    await settle(12 * MINUTE);
    faults.clear();
    await settle(60 * MINUTE);
    expect(events).toEqual([
      "FailedListVMs Failed to list the VMs of the class: Unauthenticated: no answer",
      "ListedVMs The VMs of the class can be listed again",
    ]);
    faults.set("small", "Unauthenticated");
    await settle(40 * MINUTE);
    api.remove(machineClassResource, refOf("small"));
    faults.clear();
    api.seed(machineClassResource, aMachineClass({ metadata: { uid: "uid-another" } }));
    await settle(40 * MINUTE);
    expect(events.filter((event) => event.startsWith("ListedVMs"))).toHaveLength(1);
  });

  it("are not reported when the driver cannot list them", async () => {
    const without = await start({ listsVms: () => false });
    const unimplemented = await start({ fails: () => "Unimplemented" });
    await without.settle(60 * MINUTE);
    await unimplemented.settle(60 * MINUTE);
    expect([...without.calls, ...without.events, ...unimplemented.events]).toEqual([]);
  });

  it("are not listed while the class is unusable, and again when it is fixed", async () => {
    const { api, calls, settle } = await start({}, (seeded) => seeded.remove(secretResource, refOf("small")));
    await settle(20 * MINUTE);
    expect(calls).toEqual([]);
    api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
    await settle(MINUTE);
    expect(calls).toEqual(["small"]);
  });

  it("are no longer listed when the class is deleted", async () => {
    const { api, calls, settle } = await start();
    await settle(MINUTE);
    api.remove(machineClassResource, refOf("small"));
    await settle(60 * MINUTE);
    expect(calls).toHaveLength(1);
  });

  it("are counted when a list fails", async () => {
    const failures: string[] = [];
    const driver: VmListDriver = {
      missingDriver: () => undefined,
      listsVms: () => true,
      listVms: async () => ({ ok: false, error: new MachineError("Internal", "a VM without id") }),
    };
    const { settle } = await runControllers(
      (context) => [
        createVmLists(context, driver, {}, (name, reason) => failures.push(`${name} ${reason}`)).controller,
      ],
      (api) => {
        api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
        api.seed(machineClassResource, aMachineClass());
      },
    );
    await settle(1.5 * MINUTE);
    expect(new Set(failures)).toEqual(new Set(["small Internal"]));
  });

  it("are listed again after a reader failed", async () => {
    let reads = 0;
    const driver: VmListDriver = {
      missingDriver: () => undefined,
      listsVms: () => true,
      listVms: async () => ({ ok: true, value: [] }),
    };
    const { settle } = await runControllers(
      (context) => {
        const vmLists = createVmLists(context, driver);
        vmLists.onList(async () => {
          reads++;
          throw new Error("a bug");
        });
        return [vmLists.controller];
      },
      (api) => {
        api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
        api.seed(machineClassResource, aMachineClass());
      },
    );
    await settle(MINUTE);
    await settle(16 * MINUTE);
    expect(reads).toBe(2);
  });
});
