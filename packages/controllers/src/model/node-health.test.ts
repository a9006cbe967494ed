import { describe, expect, it, test } from "vitest";
import { aMachine } from "../testing/builders.ts";
import { conditionsToCopy, isSameHealth, unhealthyConditions } from "./node-health.ts";
import { defaultMachineSettings } from "./machine-settings.ts";

const base = [
  { type: "Ready", status: "True" },
  { type: "DiskPressure", status: "False" },
  { type: "MemoryPressure", status: "False" },
  { type: "NetworkUnavailable", status: "False" },
];

describe("the conditions that a Machine has copies of", () => {
  it("are those of a usual node as they are", () => {
    const conditions = base.map((condition) => ({ ...condition, message: "m".repeat(1_000) }));
    const node = { metadata: { name: "n" }, status: { conditions } };
    expect(conditionsToCopy(aMachine(), node, defaultMachineSettings)).toEqual(conditions);
  });

  it("are few and short, whatever the node has, and all that its health depends on", () => {
    const many = Array.from({ length: 5_000 }, (_, at) => ({
      type: `Odd${at}`,
      status: "True",
      message: "m".repeat(9_000),
    }));
    const node = { metadata: { name: "n" }, status: { conditions: [...many, ...base] } };
    const copies = conditionsToCopy(aMachine(), node, defaultMachineSettings);
    expect(JSON.stringify(copies).length).toBeLessThan(64 * 1024);
    expect(unhealthyConditions(copies, defaultMachineSettings.nodeConditions)).toEqual([]);
    expect(copies.map(({ type }) => type)).toEqual(expect.arrayContaining(["Odd0", "Ready", "DiskPressure"]));
  });
});

describe("unhealthyConditions", () => {
  test.each([
    ["Ready", "True", []],
    ["Ready", "False", ["Ready is False"]],
    ["Ready", "Unknown", ["Ready is Unknown"]],
    ["DiskPressure", "True", ["DiskPressure is True"]],
    ["DiskPressure", "Unknown", ["DiskPressure is Unknown"]],
    ["DiskPressure", "False", []],
    ["MemoryPressure", "True", []],
    ["MemoryPressure", "Unknown", []],
    ["NetworkUnavailable", "True", ["NetworkUnavailable is True"]],
    ["NetworkUnavailable", "Unknown", ["NetworkUnavailable is Unknown"]],
    ["NetworkUnavailable", "False", []],
  ])("%s=%s gives %j", (type, status, expected) => {
    const conditions = base.map((condition) => (condition.type === type ? { type, status } : condition));
    expect(unhealthyConditions(conditions, defaultMachineSettings.nodeConditions)).toEqual(expected);
  });

  it("finds a node unhealthy that never reported Ready", () => {
    expect(unhealthyConditions([], [])).toEqual(["Ready is missing"]);
    expect(unhealthyConditions(base.slice(1), [])).toEqual(["Ready is missing"]);
  });

  it("has one order, whatever the node's", () => {
    const bad = [
      { type: "ReadonlyFilesystem", status: "True" },
      { type: "KernelDeadlock", status: "Unknown" },
    ];
    const expected = ["Ready is missing", "KernelDeadlock is Unknown", "ReadonlyFilesystem is True"];
    expect(unhealthyConditions(bad, defaultMachineSettings.nodeConditions)).toEqual(expected);
    expect(unhealthyConditions(bad.toReversed(), defaultMachineSettings.nodeConditions)).toEqual(expected);
  });
});

describe("isSameHealth", () => {
  it("minds types and statuses, not order, reasons, messages and times", () => {
    const later = base.map((condition) => ({ ...condition, reason: "r", message: "m", lastHeartbeatTime: "t" }));
    expect(isSameHealth(base, later.toReversed())).toBe(true);
    expect(isSameHealth(base, base.slice(1))).toBe(false);
    expect(isSameHealth(base, [...base, { type: "PIDPressure", status: "False" }])).toBe(false);
    expect(isSameHealth(base, [{ type: "Ready", status: "False" }, ...base.slice(1)])).toBe(false);
  });

  it("minds the reason of an in-place update, which is its stage", () => {
    const at = (reason: string) => [{ type: "InPlaceUpdate", status: "True", reason }];
    expect(isSameHealth(at("ReadyForUpdate"), at("UpdateSuccessful"))).toBe(false);
    expect(isSameHealth(at("ReadyForUpdate"), at("ReadyForUpdate"))).toBe(true);
    expect(isSameHealth([{ type: "InPlaceUpdate", status: "True" }], at(""))).toBe(true);
  });
});
