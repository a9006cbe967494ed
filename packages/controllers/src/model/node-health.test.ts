import { describe, expect, it, test } from "vitest";
import { isSameHealth, unhealthyConditions, unhealthySince } from "./node-health.ts";
import { defaultMachineSettings } from "./machine-settings.ts";

const base = [
  { type: "Ready", status: "True" },
  { type: "DiskPressure", status: "False" },
  { type: "MemoryPressure", status: "False" },
  { type: "NetworkUnavailable", status: "False" },
];

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

describe("unhealthySince", () => {
  const at = (type: string, status: string, minute: number) => ({
    type,
    status,
    lastTransitionTime: `2026-01-01T00:0${minute}:00Z`,
  });
  const since = (...conditions: Parameters<typeof unhealthySince>[0]) => unhealthySince(conditions, ["DiskPressure"]);

  test.each([
    ["when Ready turned bad", [at("Ready", "Unknown", 3), at("DiskPressure", "False", 1)], 3],
    ["when the first of those turned bad that still are", [at("Ready", "False", 3), at("DiskPressure", "True", 2)], 2],
    ["when a listed condition turned bad", [at("Ready", "True", 1), at("DiskPressure", "Unknown", 4)], 4],
  ])("is %s", (_, conditions, minute) => {
    expect(since(...conditions)).toBe(Date.parse(`2026-01-01T00:0${minute}:00Z`));
  });

  test.each([
    ["a healthy node", [at("Ready", "True", 1), at("DiskPressure", "False", 1)]],
    ["a condition that is not listed", [at("Ready", "True", 1), at("MemoryPressure", "True", 1)]],
    ["a condition without a time", [{ type: "Ready", status: "False" }]],
    ["a time that cannot be read", [{ type: "Ready", status: "False", lastTransitionTime: "soon" }]],
    ["no conditions", []],
  ])("is unknown of %s", (_, conditions) => {
    expect(since(...conditions)).toBeUndefined();
  });
});
