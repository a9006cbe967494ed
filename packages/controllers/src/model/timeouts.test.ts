import { describe, expect, it, test } from "vitest";
import { aMachine, annotated } from "../testing/builders.ts";
import { aSnapshot, testNow } from "../testing/snapshots.ts";
import { ageMs, creationDeadline, creationTimeoutMs } from "./timeouts.ts";

const key = "node.machine.sapcloud.io/effective-creation-timeout";
const minute = 60_000;

describe("timeouts", () => {
  test.each([
    ["the setting", {}, {}, 20],
    ["the spec", {}, { creationTimeout: "5m" }, 5],
    ["the annotation", { [key]: "7m" }, { creationTimeout: "5m" }, 7],
    ["the spec when the annotation is not a duration", { [key]: "soon" }, { creationTimeout: "5m" }, 5],
    ["the setting when nothing is a duration", { [key]: "" }, { creationTimeout: "x" }, 20],
  ])("of creation come from %s", (_, annotations, spec, minutes) => {
    const snapshot = aSnapshot({ machine: aMachine(annotated(annotations), { spec }) });
    expect(creationTimeoutMs(snapshot)).toBe(minutes * minute);
    expect(creationDeadline(snapshot)).toBe(Date.parse("2026-01-01T00:00:00Z") + minutes * minute);
  });

  it("count a machine without a time as old as time itself", () => {
    const machine = aMachine({ metadata: { creationTimestamp: null } });
    expect(ageMs(machine, testNow)).toBe(testNow.getTime());
    expect(ageMs(aMachine(), testNow)).toBe(10 * minute);
  });
});
