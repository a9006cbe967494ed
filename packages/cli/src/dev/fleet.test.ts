import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { missingFrom, viewFleet } from "./fleet.ts";

const now = new Date("2026-01-01T00:01:00Z");

const machine = (name: string, phase?: string, extra: Partial<Machine["metadata"]> = {}): Machine => ({
  metadata: { name, creationTimestamp: "2026-01-01T00:00:18Z", ...extra },
  spec: {},
  ...(phase === undefined
    ? {}
    : { status: { currentStatus: { phase }, lastOperation: { description: `about ${name}`, state: "Processing" } } }),
});

const deployment = (replicas: number, ready: number): MachineDeployment => ({
  metadata: { name: "example" },
  spec: { replicas, template: { spec: {} } },
  status: { readyReplicas: ready, updatedReplicas: ready },
});

describe("viewFleet", () => {
  it("sorts machines by name and shows their age", () => {
    const { machines } = viewFleet([], [machine("b", "Running"), machine("a", "Pending")], now);
    expect(machines.map(({ name, phase, ageSeconds }) => [name, phase, ageSeconds])).toEqual([
      ["a", "Pending", 42],
      ["b", "Running", 42],
    ]);
  });

  it.each([
    ["Creating", machine("a")],
    ["Terminating", machine("a", "Running", { deletionTimestamp: "2026-01-01T00:00:59Z" })],
    ["SomethingNew", machine("a", "SomethingNew")],
  ])("calls the phase %s", (phase, given) => {
    expect(viewFleet([], [given], now).machines[0]?.phase).toBe(phase);
  });

  it("shows the last operation of a machine, and whether it failed", () => {
    const failed: Machine = {
      ...machine("a"),
      status: { lastOperation: { state: "Failed", description: "no quota" } },
    };
    expect(
      viewFleet([], [failed, machine("b", "Running")], now).machines.map(({ cause, isFailing }) => [cause, isFailing]),
    ).toEqual([
      ["no quota", true],
      ["about b", false],
    ]);
  });

  it.each(["CrashLoopBackOff", "Failed", "InPlaceUpdateFailed", "Unknown"])(
    "counts %s as a failure, also during the next attempt",
    (phase) => {
      expect(viewFleet([], [machine("a", phase)], now).machines[0]?.isFailing).toBe(true);
    },
  );

  it.each([
    ["DeletionsHeld", "held"],
    ["DeletionProtected", "protected"],
  ])("shows that a deployment waits for a user: %s", (type, word) => {
    const waiting: MachineDeployment = {
      ...deployment(1, 1),
      status: { conditions: [{ type, status: "True", message: "because" }] },
    };
    expect(viewFleet([waiting], [], now).deployments[0]).toMatch(new RegExp(`- ${word}: because$`));
  });

  it("shows why a deployment is invalid", () => {
    const refused: MachineDeployment = {
      ...deployment(1, 0),
      status: {
        conditions: [{ type: "SpecValid", status: "False", message: "* spec.replicas: must not be negative" }],
      },
    };
    expect(viewFleet([refused], [], now).deployments).toEqual([
      "example: 1 desired, 0 ready, 0 up to date - invalid: * spec.replicas: must not be negative",
    ]);
  });
});

describe("missingFrom", () => {
  it("misses nothing when every machine is Running and counted as ready", () => {
    expect(missingFrom(deployment(1, 1), [machine("a", "Running")])).toEqual([]);
  });

  it("names every machine that is not Running, with its last operation", () => {
    expect(missingFrom(deployment(3, 1), [machine("c", "Pending"), machine("a", "Running"), machine("b")])).toEqual([
      "1 of 3 machines are Running",
      "Machine b: Creating: nothing reported yet",
      "Machine c: Pending: about c",
    ]);
  });

  it("misses the deployment itself when there is none", () => {
    expect(missingFrom(undefined, [])).toEqual(["the example MachineDeployment does not exist"]);
  });
});
