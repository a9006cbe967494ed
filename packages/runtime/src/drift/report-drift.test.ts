import { ConfigError, isConfigError } from "@millwright/base";
import { type Driver, type DriverDefinition, MachineError } from "@millwright/core";
import {
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { createFakeApi, type FakeApi } from "@millwright/kube/testing";
import { ApiError, secretResource } from "@millwright/kube";
import { describe, expect, it, vi } from "vitest";
import { aDriver } from "../testing/fake-driver.ts";
import { type ReportDriftOptions, reportDrift } from "./report-drift.ts";

const namespace = "shoot";
const forbidden = new ApiError({ status: 403, reason: "Forbidden", message: "it is forbidden" });
const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: machineApiVersion, kind, name, uid: `uid-${name}`, controller: true }],
});
const meta = (name: string, more: object = {}) => ({ namespace, name, uid: `uid-${name}`, ...more });

function seedMachine(api: FakeApi, name: string, more: object = {}, spec: object = {}): void {
  api.seed(machineResource, {
    metadata: meta(name, more),
    spec: { class: { kind: "MachineClass", name: "small" }, providerID: `vm-of-${name}`, ...spec },
  });
}

/** A namespace with a class, its secrets and no machine; the VM of machine `b` is too large. */
function setUp(change: Partial<DriverDefinition<unknown>> = {}) {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock });
  api.seed(machineClassResource, {
    metadata: meta("small"),
    provider: "Mock",
    providerSpec: { size: 1 },
    secretRef: { name: "user", namespace },
    credentialsSecretRef: { name: "cloud", namespace },
  });
  api.seed(secretResource, { metadata: meta("user"), data: { userData: btoa("boot"), key: btoa("old") } });
  api.seed(secretResource, { metadata: meta("cloud"), data: { key: btoa("s3cr3t-k3y") } });
  const findDrift = vi.fn<NonNullable<Driver["findDrift"]>>(async ({ machine }) => ({
    providerId: machine.providerId ?? "",
    differences: machine.name === "b" ? [{ field: "size", wanted: "1", found: "2" }] : [],
  }));
  const driver = aDriver({ findDrift, ...change });
  const driverFor = vi.fn<ReportDriftOptions["driverFor"]>(async () => driver);
  const report = (options: Partial<ReportDriftOptions> = {}) =>
    reportDrift({
      control: api,
      namespace,
      selection: { kind: "all" },
      driverFor,
      clock,
      log: () => {},
      signal: new AbortController().signal,
      ...options,
    });
  return { api, findDrift, driverFor, report };
}

const outcomes = ({ machines }: Awaited<ReturnType<typeof reportDrift>>): Readonly<Record<string, string>> =>
  Object.fromEntries(machines.map(({ machine, outcome, because }) => [machine, because ?? outcome]));

describe("reportDrift", () => {
  it("compares each machine with its class, whose credentials win, and loads driver and secrets once", async () => {
    const { api, findDrift, driverFor, report } = setUp();
    for (const name of ["b", "a"]) seedMachine(api, name);
    expect(await report()).toEqual({
      namespace,
      outcome: "drifted",
      machines: [
        { machine: "a", machineClass: "small", providerId: "vm-of-a", outcome: "same", differences: [] },
        {
          machine: "b",
          machineClass: "small",
          providerId: "vm-of-b",
          outcome: "drifted",
          differences: [{ field: "size", wanted: "1", found: "2" }],
        },
      ],
    });
    const [first] = findDrift.mock.calls;
    expect(first?.[0].secret["key"]?.reveal()).toBe("s3cr3t-k3y");
    expect(driverFor.mock.calls).toEqual([["Mock"]]);
    expect(api.calls.filter(({ verb }) => verb === "get")).toHaveLength(3);
    expect(api.writes()).toEqual([]);
  });

  it("takes the machines of all sets of a deployment, or the one that is named", async () => {
    const { api, report } = setUp();
    api.seed(machineDeploymentResource, { metadata: meta("pool") });
    for (const set of ["old", "new"])
      api.seed(machineSetResource, { metadata: meta(set, ownedBy("MachineDeployment", "pool")) });
    api.seed(machineSetResource, { metadata: meta("other") });
    seedMachine(api, "a", ownedBy("MachineSet", "old"));
    seedMachine(api, "c", ownedBy("MachineSet", "new"));
    seedMachine(api, "b", ownedBy("MachineSet", "other"));
    seedMachine(api, "d");
    expect(outcomes(await report({ selection: { kind: "deployment", name: "pool" } }))).toEqual({
      a: "same",
      c: "same",
    });
    expect(outcomes(await report({ selection: { kind: "machine", name: "b" } }))).toEqual({ b: "drifted" });
  });

  it("skips what has no VM, and what is about to have none", async () => {
    const { api, findDrift, report } = setUp();
    seedMachine(api, "new", {}, { providerID: "" });
    seedMachine(api, "old", { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] });
    const result = await report();
    expect(outcomes(result)).toEqual({ new: "has no VM yet", old: "is being deleted" });
    expect(result.outcome).toBe("same");
    expect(findDrift).not.toHaveBeenCalled();
  });

  it("reports why a machine cannot be compared, and continues with the others", async () => {
    const { api, driverFor, report } = setUp({
      findDrift: async ({ machine, secret }) => {
        if (machine.name === "gone") throw new MachineError("NotFound", `no VM, key ${secret["key"]?.reveal()}`);
        return { providerId: "vm", differences: machine.name === "odd" ? ("none" as never) : [] };
      },
    });
    api.seed(machineClassResource, { metadata: meta("alien"), provider: "alien", providerSpec: {} });
    api.seed(machineClassResource, {
      metadata: meta("poor"),
      provider: "mock",
      providerSpec: {},
      secretRef: { name: "missing" },
    });
    api.seed(machineClassResource, { metadata: meta("odd"), provider: 7, providerSpec: {} });
    for (const name of ["fine", "gone", "odd"]) seedMachine(api, name);
    for (const name of ["alien", "poor", "none", "odd"])
      seedMachine(api, `of-${name}`, {}, { class: { kind: "MachineClass", name } });
    seedMachine(api, "classless", {}, { class: {} });
    const known: ReportDriftOptions["driverFor"] = (provider) =>
      provider === "alien" ? Promise.reject(new ConfigError('no driver "alien" is known')) : driverFor(provider);
    const result = await report({ driverFor: known });
    expect(result.outcome).toBe("failed");
    expect(outcomes(result)).toEqual({
      classless: "spec.class.name is required",
      fine: "same",
      gone: expect.stringMatching(/^NotFound: no VM, key (?!s3cr3t)/),
      odd: "Internal: findDrift of the driver answered without a list of differences of vm",
      "of-alien": 'MachineClass "alien": no driver "alien" is known',
      "of-none": 'MachineClass "none" does not exist in namespace shoot',
      "of-odd": expect.stringContaining('MachineClass "odd" cannot be read: provider'),
      "of-poor": 'MachineClass "poor": Secret "missing" does not exist in namespace shoot',
    });
  });

  it("reports a driver that cannot compare", async () => {
    const { api, report } = setUp();
    seedMachine(api, "a");
    const result = await report({ driverFor: async () => aDriver() });
    expect(outcomes(result)).toEqual({ a: 'Unimplemented: driver "mock" cannot compare a VM with its class' });
  });

  it.each([
    [{ kind: "machine", name: "x" }, 'there is no Machine "x" in namespace shoot'],
    [{ kind: "deployment", name: "x" }, 'there is no MachineDeployment "x" in namespace shoot'],
  ] as const)("refuses %j when there is none", async (selection, message) => {
    const { report } = setUp();
    await expect(report({ selection })).rejects.toThrow(new ConfigError(message));
  });

  it.each([machineResource, machineClassResource, secretResource])(
    "reports the permissions that it needs when it may not read %s",
    async (type) => {
      const { api, report } = setUp();
      seedMachine(api, "a");
      api.inject({ type, error: forbidden });
      const error: unknown = await report().catch((thrown: unknown) => thrown);
      expect(isConfigError(error) && error.message).toContain("a comparison needs to get");
    },
  );

  it("ends with the reason of its signal, and has no comparison begin after that", async () => {
    const stop = new AbortController();
    let begun = 0;
    const { api, report } = setUp({
      findDrift: async ({ machine }) => {
        begun++;
        stop.abort(new Error("stopped by test"));
        return { providerId: machine.name, differences: [] };
      },
    });
    for (let index = 0; index < 50; index++) seedMachine(api, `m-${index}`);
    await expect(report({ signal: stop.signal })).rejects.toThrow("stopped by test");
    expect(begun).toBe(1);
  });
});
