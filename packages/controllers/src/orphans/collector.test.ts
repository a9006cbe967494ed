import { type ListedMachine, MachineError } from "@millwright/core";
import {
  annotationKeys,
  type MachineClass,
  machineClassResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { type FakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { DriverOutcome, MachineDriver, VmCall } from "../model/driver-port.ts";
import type { OperationResult, PendingOperation } from "../model/operation.ts";
import { aMachine, aMachineClass, aMachineSet, inPhase, named, refOf, testNamespace } from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { createVmLists } from "../vm-lists/vm-lists.ts";
import { collectOrphans, type OrphanMode } from "./collector.ts";

const MINUTE = 60_000;
const userData = Buffer.from("#cloud-config").toString("base64");
const deleted: DriverOutcome<OperationResult> = { ok: true, value: {} };

/** Two machines, their VMs, and VMs without machine. */
async function aCloud(
  options: {
    readonly orphans?: readonly string[];
    readonly mode?: OrphanMode;
    readonly deleteVm?: (call: VmCall) => DriverOutcome<OperationResult | PendingOperation>;
  } = {},
  prepare: (api: FakeApi) => void = () => {},
) {
  const vms = new Map<string, ListedMachine>();
  const add = (name: string, machineUid = `uid-${name}`) =>
    void vms.set(`vm-${name}`, { providerId: `vm-${name}`, machineName: name, machineUid });
  for (const name of ["a", "b", ...(options.orphans ?? ["lost"])]) add(name);
  const calls: VmCall[] = [];
  const driver = {
    missingDriver: () => undefined,
    listsVms: () => true,
    listVms: async () => ({ ok: true, value: [...vms.values()] }) as const,
    deleteVm: async (call: VmCall): ReturnType<MachineDriver["deleteVm"]> => {
      calls.push(call);
      const outcome = options.deleteVm?.(call) ?? deleted;
      if (outcome.ok && !("pending" in outcome.value)) vms.delete(call.machine.spec.providerID ?? "");
      return outcome;
    },
  };
  const cluster = await runControllers(
    (context) => {
      const lists = createVmLists(context, driver);
      collectOrphans(context, driver, lists, {
        mode: options.mode ?? "collect",
        minAgeMs: 20 * MINUTE,
        quarantineMs: 15 * MINUTE,
        drainTimeoutMs: 120 * MINUTE,
      });
      return [lists.controller];
    },
    (api) => {
      api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
      api.seed(machineClassResource, aMachineClass());
      for (const name of ["a", "b"])
        api.seed(machineResource, aMachine(named(name), { spec: { providerID: `vm-${name}` } }, inPhase("Running")));
      prepare(api);
    },
  );
  const record = () =>
    cluster.api.peek<MachineClass>(machineClassResource, refOf("small"))?.metadata.annotations?.[
      annotationKeys.orphanVms
    ];
  return { ...cluster, vms, add, calls, record };
}

describe("a VM without machine", () => {
  it("is reported, put in quarantine on its class, and deleted with its own identity; other VMs are kept", async () => {
    const { calls, events, record, settle, vms } = await aCloud();
    await settle(18 * MINUTE);
    expect([record(), events]).toEqual([undefined, []]);
    await settle(16 * MINUTE);
    expect(JSON.parse(record() ?? "")).toMatchObject({ machines: 2, vms: { "vm-lost": { machine: "lost" } } });
    expect(events).toEqual([
      "OrphanVMFound VM vm-lost has no Machine; it was created for Machine lost. It will be deleted in 15m0s. To keep it, create the Machine with this id in spec.providerID",
    ]);
    expect(calls).toEqual([]);
    await settle(20 * MINUTE);
    expect(calls.map(({ machine }) => machine)).toEqual([
      {
        metadata: { name: "lost", namespace: testNamespace, uid: "uid-lost" },
        spec: { providerID: "vm-lost", class: { kind: "MachineClass", name: "small" } },
      },
    ]);
    expect([...vms.keys()]).toEqual(["vm-a", "vm-b"]);
    expect(events.at(-1)).toBe("OrphanVMDeleted Deleted VM vm-lost of Machine lost, which does not exist");
    await settle(2 * MINUTE);
    expect(record()).toBeUndefined();
  });

  it("is kept in mode report", async () => {
    const { calls, events, record, settle } = await aCloud({ mode: "report" });
    await settle(180 * MINUTE);
    expect([calls, record()]).toEqual([[], expect.stringContaining("vm-lost")]);
    expect(events).toEqual([expect.stringMatching(/^OrphanVMFound .* It is kept:/)]);
  });

  it("is kept once its machine is created with its id, however late", async () => {
    const { api, calls, record, settle } = await aCloud();
    await settle(35 * MINUTE);
    expect(record()).toContain("vm-lost");
    api.seed(machineResource, aMachine(named("again"), { spec: { providerID: "vm-lost" } }));
    await settle(60 * MINUTE);
    expect([calls, record()]).toEqual([[], undefined]);
  });

  it("is a second one of a machine, and is deleted by its own id; the one that the machine names is kept", async () => {
    const { calls, events, settle, vms } = await aCloud({ orphans: [] });
    vms.set("vm-a2", { providerId: "vm-a2", machineName: "a", machineUid: "uid-a" });
    await settle(120 * MINUTE);
    expect(calls.map(({ machine }) => machine.spec.providerID)).toEqual(["vm-a2"]);
    expect([...vms.keys()]).toEqual(["vm-a", "vm-b"]);
    expect(events).toEqual([
      expect.stringContaining("VM vm-a2 is a second VM of Machine a, which names another one. It will be deleted"),
      "OrphanVMDeleted Deleted VM vm-a2 of Machine a, which names another VM",
    ]);
  });

  it("is a second one of a machine, and is kept when the API server has its id on the machine", async () => {
    const { api, calls, settle, vms } = await aCloud({ orphans: [] });
    vms.set("vm-a2", { providerId: "vm-a2", machineName: "a", machineUid: "uid-a" });
    await settle(34 * MINUTE);
    // No watch reports it.
    api.inject({ verb: "watch", type: machineResource, error: serverError(), times: 1_000 });
    api.inject({ verb: "list", type: machineResource, error: serverError(), times: 1_000 });
    api.remove(machineResource, refOf("a"));
    api.seed(machineResource, aMachine(named("a"), { spec: { providerID: "vm-a2" } }, inPhase("Running")));
    await settle(60 * MINUTE);
    expect(calls).toEqual([]);
  });

  it("has left parts, which are reported and deleted as it would be", async () => {
    const { calls, events, record, settle, vms } = await aCloud({ orphans: [] });
    vms.set("vm-gone", {
      providerId: "vm-gone",
      machineName: "gone",
      machineUid: "uid-gone",
      parts: ["NIC n", "disk d"],
    });
    await settle(35 * MINUTE);
    expect(JSON.parse(record() ?? "")).toMatchObject({
      vms: { "vm-gone": { machine: "gone", parts: ["NIC n", "disk d"], deleteAfter: expect.any(String) } },
    });
    await settle(60 * MINUTE);
    expect(calls.map(({ machine }) => machine.spec.providerID)).toEqual(["vm-gone"]);
    expect(events).toEqual([
      expect.stringContaining(
        "What is left of VM vm-gone, NIC n, disk d, has no Machine; it was created for Machine gone.",
      ),
      "OrphanVMDeleted Deleted NIC n, disk d of VM vm-gone of Machine gone, which does not exist",
    ]);
  });

  it("is kept while nothing proves that it has no machine: a set waits for machines", async () => {
    const { calls, events, settle } = await aCloud({}, (api) => {
      const annotations = { [annotationKeys.expectedReplicas]: "3" };
      api.seed(machineSetResource, aMachineSet(named("pool"), { metadata: { annotations } }));
    });
    await settle(180 * MINUTE);
    expect([calls, events]).toEqual([[], []]);
  });

  it("is kept when the API server has a machine for it that the cache lacks", async () => {
    const { api, calls, settle } = await aCloud();
    await settle(34 * MINUTE);
    // No watch reports it.
    api.inject({ verb: "watch", type: machineResource, error: serverError(), times: 1_000 });
    api.inject({ verb: "list", type: machineResource, error: serverError(), times: 1_000 });
    api.seed(machineResource, aMachine(named("lost"), inPhase("Running")));
    await settle(60 * MINUTE);
    expect(calls).toEqual([]);
  });

  it("is deleted at a limited rate when there are many", async () => {
    const names = Array.from({ length: 14 }, (_, index) => `lost-${index}`);
    const { calls, settle, vms } = await aCloud({ orphans: names });
    await settle(55 * MINUTE);
    expect(calls).toHaveLength(10);
    await settle(60 * MINUTE);
    expect([...vms.keys()]).toEqual(["vm-a", "vm-b"]);
  });

  it("is deleted again, and reported, while that fails, without effect on the others", async () => {
    const { calls, events, settle, vms } = await aCloud({
      orphans: ["bad", "good"],
      deleteVm: ({ machine }) =>
        machine.metadata.name === "bad" ? { ok: false, error: new MachineError("Unavailable", "busy") } : deleted,
    });
    await settle(120 * MINUTE);
    expect([...vms.keys()]).toEqual(["vm-a", "vm-b", "vm-bad"]);
    expect(calls.length).toBeGreaterThan(3);
    expect(events).toContain(
      "OrphanVMNotDeleted Failed to delete VM vm-bad of Machine bad, which does not exist: Unavailable: busy",
    );
  });

  it("is asked for again when its deletion is pending", async () => {
    let calls = 0;
    const cloud = await aCloud({
      deleteVm: () =>
        ++calls === 1 ? { ok: true, value: { pending: { message: "wiping", checkAfterMs: 90_000 } } } : deleted,
    });
    await cloud.settle(60 * MINUTE);
    expect(cloud.calls).toHaveLength(2);
    expect(cloud.events.filter((event) => event.startsWith("OrphanVMDeleted"))).toHaveLength(1);
  });

  it("that several classes list is reported and deleted once", async () => {
    const { calls, events, settle } = await aCloud({}, (api) => {
      api.seed(machineClassResource, aMachineClass(named("another")));
    });
    await settle(120 * MINUTE);
    expect(calls.map(({ machineClass }) => machineClass.metadata.name)).toEqual(["another"]);
    expect(events).toHaveLength(2);
  });

  it("is reported when its class is deleted", async () => {
    const { api, events, settle } = await aCloud();
    await settle(35 * MINUTE);
    api.remove(machineClassResource, refOf("small"));
    await settle(MINUTE);
    expect(events.at(-1)).toBe(
      "OrphanVMNotDeleted The MachineClass was deleted, and VMs without Machine remain: vm-lost. Delete them, unless another class lists them",
    );
  });
});

describe("when machines vanish from the list", () => {
  it("none of their VMs is deleted, as long as the list is empty for less than the creation timeout and the quarantine", async () => {
    const { api, calls, settle } = await aCloud();
    await settle(34 * MINUTE);
    for (const name of ["a", "b"]) api.remove(machineResource, refOf(name));
    await settle(30 * MINUTE);
    expect(calls.map(({ machine }) => machine.metadata.name)).not.toContain("a");
    for (const name of ["a", "b"])
      api.seed(machineResource, aMachine(named(name), { spec: { providerID: `vm-${name}` } }, inPhase("Running")));
    await settle(120 * MINUTE);
    expect(calls.map(({ machine }) => machine.metadata.name)).toEqual(["lost"]);
  });
});
