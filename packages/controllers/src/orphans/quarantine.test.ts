import { describe, expect, it, test } from "vitest";
import { aMachineClass } from "../testing/builders.ts";
import { emptyQuarantine, formatQuarantine, readQuarantine } from "./quarantine.ts";

const read = (text: string) =>
  readQuarantine(aMachineClass({ metadata: { annotations: { "machine.millwright.dev/orphan-vms": text } } }));

describe("the quarantine on a class", () => {
  it("is read as it was written, in seconds", () => {
    const since = Date.parse("2026-01-01T00:00:05Z");
    const quarantine = {
      machines: 7,
      vms: new Map([
        ["b", { machine: "m", since }],
        ["a", { machine: "n", parts: ["NIC n-nic"], since }],
      ]),
    };
    const text = formatQuarantine(quarantine, undefined) ?? "";
    expect(text).toBe(
      '{"machines":7,"vms":{"a":{"machine":"n","parts":["NIC n-nic"],"since":"2026-01-01T00:00:05Z"},"b":{"machine":"m","since":"2026-01-01T00:00:05Z"}}}',
    );
    expect(read(text)).toEqual(quarantine);
  });

  it("shows when a VM will be deleted", () => {
    const since = Date.parse("2026-01-01T00:00:05Z");
    const text = formatQuarantine({ machines: 7, vms: new Map([["a", { machine: "n", since }]]) }, 60_000) ?? "";
    expect(text).toContain('"deleteAfter":"2026-01-01T00:01:05Z"');
    expect(read(text).vms.get("a")).toEqual({ machine: "n", since, deleteAfter: since + 60_000 });
  });

  it("removes the annotation when it is empty", () => {
    expect(formatQuarantine(emptyQuarantine, 60_000)).toBeNull();
    expect(readQuarantine(aMachineClass())).toEqual(emptyQuarantine);
  });

  test.each([
    "",
    "nonsense",
    "null",
    "[]",
    '{"vms":1}',
    '{"vms":{"a":1,"b":{"machine":"m","since":"soon"},"c":{"since":"2026-01-01T00:00:05Z"}}}',
  ])("of %s is empty", (text) => {
    expect(read(text).vms.size).toBe(0);
  });
});
